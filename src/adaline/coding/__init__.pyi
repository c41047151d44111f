from adaline.coding.coding import MISSING as MISSING
from adaline.coding.coding import UNSEEN as UNSEEN
from adaline.coding.coding import Coding as Coding
from adaline.coding.coding import Learned as Learned
from adaline.coding.columns import Column as Column
from adaline.coding.effects import Effect as Effect
from adaline.coding.terms import Term as Term
from adaline.coding.terms import TermFactor as TermFactor
