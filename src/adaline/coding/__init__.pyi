from adaline.coding.coding import Coding as Coding
from adaline.coding.coding import Learned as Learned
from adaline.coding.columns import Column as Column
from adaline.coding.columns import HashedColumn as HashedColumn
from adaline.coding.columns import WordColumn as WordColumn
from adaline.coding.effects import Effect as Effect
from adaline.coding.terms import Term as Term
from adaline.coding.terms import TermFactor as TermFactor
