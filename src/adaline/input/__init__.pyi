from adaline.input.blockwise import by_blocks as by_blocks
from adaline.input.drafts import continuation as continuation
from adaline.input.drafts import transaction as transaction
from adaline.input.meter import Meter as Meter
from adaline.input.random_state import generator as generator
