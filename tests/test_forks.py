"""A process forked while other threads fit can fit itself: no lock of theirs is left held, no pool without threads."""

from __future__ import annotations

import subprocess
import sys
import sysconfig

import pytest

SETUP = """
import functools, inspect, multiprocessing, os, pkgutil, importlib, importlib.util, sys, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import adaline
from adaline import AdaptiveFilter, GaussianClassifier, LinearRegression, LMS, LogisticRegression, Ridge, WienerFilter
from threadpoolctl import threadpool_info

adaline.set_threads(2)
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 4))
y = X @ np.arange(4.0) + rng.normal(size=500)
label = (y > 0).astype(int)

def fits():
    "Fit one of each family, on pools of threads too; return a few coefficients."
    large = np.tile(X, (40, 1))
    models = [LinearRegression().fit(large, np.tile(y, 40)), Ridge().fit(X, y), LMS().fit(X, y)]
    models += [GaussianClassifier().fit(X, label), LogisticRegression().fit(X, label)]
    models += [WienerFilter(taps=4, method="autocorrelation").fit(y[:-1], y[1:])]
    models += [AdaptiveFilter(taps=4).fit(y[:-1], y[1:])]
    models[0].summary(); models[4].summary()
    return [np.ravel(model.coef_)[0] for model in models]

def blas_threads():
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")

def in_child(work):
    "Return the exit code of a forked child that does the work, -1 where it does not end."
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -1

held, done = threading.Event(), threading.Event()

def meanwhile(hold):
    "Run a context in another thread until done is set; return once it has been entered."
    def work():
        with hold:
            held.set()
            done.wait()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    held.wait()
"""


def run_python(code: str) -> str:
    """Return what a script prints; it may take some minutes on a busy machine."""
    found = subprocess.run([sys.executable, "-c", SETUP + code], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


pytestmark = pytest.mark.skipif(sysconfig.get_platform().startswith("win"), reason="there is no fork")


@pytest.mark.night
def test_every_lock_of_the_package_is_free_in_a_forked_child() -> None:
    code = """
kinds = (type(threading.Lock()), type(threading.RLock()), threading.Condition)
locks = {}
apart = () if importlib.util.find_spec("torch") else ("adaline.fused",)
for module in [one for one in pkgutil.walk_packages(adaline.__path__, "adaline.") if one.name not in apart]:
    if module.name != "adaline.__main__":
        scope = vars(importlib.import_module(module.name))
        for owner in (scope, *(vars(cls) for cls in scope.values() if inspect.isclass(cls))):
            for value in owner.values():
                lock = value if isinstance(value, kinds) else getattr(value, "lock", None)
                if isinstance(lock, kinds):
                    locks[id(lock)] = lock
expected = fits()
class All:
    def __enter__(self):
        for lock in locks.values():
            lock.acquire()
    def __exit__(self, *error):
        pass
meanwhile(All())
print(in_child(lambda: fits() == expected))
"""
    assert run_python(code) == "0"


def test_a_forked_child_has_no_limit_of_blas_threads_of_another_thread_and_leaves_its_own() -> None:
    code = """
from contextlib import ExitStack
from adaline.sources.threads import one_blas_thread

fits()
before = blas_threads()
inner = ExitStack()
inner.enter_context(one_blas_thread())

def leaves():
    inner.close()
    return blas_threads() == before

found = in_child(leaves)
inner.close()
print(found, blas_threads() == before)
meanwhile(one_blas_thread())

def work():
    fits()
    with one_blas_thread():
        within = blas_threads()
    return (within, blas_threads()) == (1, before)

print(in_child(work))
done.set()
"""
    assert run_python(code).split() == ["0", "True", "0"]


def test_forked_pools_fit_after_and_while_the_parent_fits() -> None:
    code = """
expected = fits()
stop = threading.Event()
def busy():
    while not stop.is_set():
        fits()
threads = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
found = []
for _ in range(3):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found += [pool.apply_async(fits).get(20) for _ in range(2)]
stop.set()
for thread in threads:
    thread.join()
print(all(one == expected for one in found))
"""
    assert run_python(code) == "True"
