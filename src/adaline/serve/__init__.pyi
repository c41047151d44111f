from adaline.serve.application import app as app
from adaline.serve.requests import Limits as Limits
from adaline.serve.security import Tokens as Tokens
