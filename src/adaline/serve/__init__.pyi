from adaline.serve.journal import Journal as Journal
from adaline.serve.learner import Learner as Learner
from adaline.serve.learner import Receipt as Receipt
