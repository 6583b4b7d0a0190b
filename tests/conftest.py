"""What every test needs."""

import signal
import threading

# A shell that starts the tests in the background makes them and their children deaf to Ctrl-C,
# which some tests send to the command line.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.default_int_handler)
