from adaline.serve.application import app as app
from adaline.serve.journal import Journal as Journal
from adaline.serve.learner import Learner as Learner
from adaline.serve.queue import Receipt as Receipt
from adaline.serve.requests import Limits as Limits
from adaline.serve.security import Tokens as Tokens
