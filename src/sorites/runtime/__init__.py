"""Settings of the process and questions about the device. Only this package and `fast` depend on the device.

Importing sorites and training change no setting. The command line calls `configure` for its own process; call the
same functions if you want them for yours.
"""

from .process import collect_garbage_rarely as collect_garbage_rarely
from .process import configure as configure
from .process import single_threaded_children as single_threaded_children
from .process import use_compilation_cache as use_compilation_cache
