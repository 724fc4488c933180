"""Processes as a user starts them, forked off a server that has imported everything."""

import atexit
import faulthandler
import os
import runpy
import signal
import sys
import threading
from multiprocessing import get_context, process
from pathlib import Path
from types import SimpleNamespace

IS_LINUX = sys.platform.startswith("linux")
if IS_LINUX:
    from multiprocessing import forkserver
CONTEXT = get_context("forkserver" if IS_LINUX else "spawn")


def start_server():
    """Start the server that imports everything, and do not wait for it."""
    if IS_LINUX and server_address() is None:
        before = dict(os.environ)
        CONTEXT.set_forkserver_preload(["tests.fork_server"])
        forkserver.ensure_running()
        assert dict(os.environ) == before


def server_address():
    return forkserver._forkserver._forkserver_address if IS_LINUX else None


def use_server(address):
    """Let the server of another process fork off what this one starts."""
    if address is not None:
        server = forkserver._forkserver
        server._forkserver_address = address
        if server._forkserver_alive_fd is None:  # which only its owner has
            server._forkserver_alive_fd = os.open(os.devnull, os.O_RDONLY)
        server.ensure_running = lambda: None
        forkserver.ensure_running = lambda: None


class Interpreter:
    """`python ARGS` (-m MODULE, -c CODE or a script, and what follows) in a folder.

    Its output may go to a file, and then communicate() does not return it; more
    arguments are what is different in its environment.
    """

    def __init__(self, *args, cwd=".", stdout=None, **environment):
        start_server()
        child_stdin, self._stdin = CONTEXT.Pipe(duplex=False)
        self._stdout, child_stdout = CONTEXT.Pipe(duplex=False)
        self._stderr, child_stderr = CONTEXT.Pipe(duplex=False)
        pipes = (child_stdin, child_stdout, child_stderr)
        argv = [str(arg) for arg in args]
        settings = (Path(cwd).absolute(), {**os.environ, **environment})
        arguments = (argv, *settings, pipes, stdout, server_address())
        self._process = CONTEXT.Process(target=_begin, args=arguments)
        self._process.start()
        self.pid = self._process.pid
        for pipe in pipes:
            pipe.close()

    @property
    def returncode(self):
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def communicate(self, stdin=b"", timeout=300):
        """Return its stdout and stderr; one that does not end prints its stack."""
        outputs = {"_stdout": b"", "_stderr": b""}

        def read(name):
            while block := os.read(getattr(self, name).fileno(), 2**16):
                outputs[name] += block

        # Whoever it leaves behind may keep them open for ever.
        settings = {"target": read, "daemon": True}
        readers = [threading.Thread(args=(name,), **settings) for name in outputs]
        for reader in readers:
            reader.start()
        self.write(stdin)
        self._stdin.close()
        self._process.join(timeout)
        has_ended = self.returncode is not None
        if not has_ended:
            self.send_signal(signal.SIGABRT)
        for reader in readers:
            reader.join(timeout=60)
            has_ended = has_ended and not reader.is_alive()
        texts = {name: output.decode() for name, output in outputs.items()}
        if not has_ended:
            self._process.kill()
            raise TimeoutError(texts)
        self._stdout.close()
        self._stderr.close()
        self._process.join()
        return tuple(texts.values())

    def write(self, stdin):
        """Write to its input, as much as it takes."""
        try:
            while stdin:
                stdin = stdin[os.write(self._stdin.fileno(), stdin) :]
        except BrokenPipeError:
            pass

    def close_stdout(self):
        """Stop reading its output, as `head` does."""
        self._stdout.close()
        self._stdout = open(os.devnull, "rb")  # noqa: SIM115


def run(*args, stdin=b"", **settings):
    begun = Interpreter(*args, **settings)
    stdout, stderr = begun.communicate(stdin)
    return SimpleNamespace(returncode=begun.returncode, stdout=stdout, stderr=stderr)


def _begin(argv, cwd, environment, pipes, stdout, address):
    use_server(address)
    atexit._clear()  # what the server has registered
    os.chdir(cwd)
    # Where this process would have begun: scripts are found from there.
    process.ORIGINAL_DIR = str(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, pipe in enumerate(pipes):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    if stdout is not None:
        os.dup2(os.open(stdout, os.O_WRONLY), 1)
    sys.stdin = open(0, encoding="utf8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf8", closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.enable(2)
    code = _run(argv)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 120  # as Python itself
    os._exit(code)


def _run(argv):
    kind, *rest = argv
    try:
        if kind == "-m":
            name, *rest = rest
            sys.path.insert(0, os.getcwd())
            sys.argv = [name, *rest]
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        elif kind == "-c":
            code, *rest = rest
            sys.path.insert(0, "")
            sys.argv = ["-c", *rest]
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        else:
            sys.path.insert(0, str(Path(kind).absolute().parent))
            sys.argv = argv
            runpy.run_path(kind, run_name="__main__")
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
