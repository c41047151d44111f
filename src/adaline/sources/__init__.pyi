from adaline.sources.array import ArraySource as ArraySource
from adaline.sources.array import SparseSource as SparseSource
from adaline.sources.base import Source as Source
from adaline.sources.device import DeviceSource as DeviceSource
from adaline.sources.tables.open_table import open_table as open_table
from adaline.sources.tables.source import TableSource as TableSource
from adaline.sources.tabular import is_table as is_table
from adaline.sources.threads import set_threads as set_threads
