"""Time and peak memory of download and split, for tables as large as the paper's largest.

The tables are random, of the size of devnagari-script and dionis, and come through the real openml
client from a server on loopback (the one of the tests). Each stage runs in a process of its own.

    python benchmarks/large_tables.py
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

SHAPES = {"devnagari-script": (92_000, 1024, 46), "dionis": (416_188, 60, 355)}


def serve_table(n_rows: int, n_columns: int, n_classes: int, port) -> None:
    import functools
    import threading

    import numpy as np
    import pandas as pd
    from openml_server import OpenMLStandIn, serve

    rng = np.random.default_rng(0)
    values = rng.integers(0, 256, (n_rows, n_columns)).astype(float)
    frame = pd.DataFrame(values, columns=[f"V{i}" for i in range(n_columns)])
    frame["class"] = pd.Categorical((np.arange(n_rows) % n_classes).astype(str))

    class Large(OpenMLStandIn):
        parquet_bytes = functools.cached_property(lambda self: self._encode())
        _encode = OpenMLStandIn.parquet_bytes

        def answer(self, path):
            if path.endswith(".pq"):
                return 200, "application/octet-stream", self.parquet_bytes
            return super().answer(path)

    with serve(Large(frame, "class", md5=None)) as running:
        _ = running.parquet_bytes
        port.send(running.port)
        threading.Event().wait()


def download(folder: Path, port: int) -> None:
    from openml_server import API, TASK_ID

    from iunet.data.download import download
    from iunet.data.registry import Dataset
    from iunet.data.sources import SourceSettings

    dataset = Dataset("large", "tabular", "openml", str(TASK_ID))
    settings = SourceSettings(openml_server=f"http://127.0.0.1:{port}{API}", attempts=1)
    download(dataset, settings, folder / "data.parquet", folder / "data.json")


def split(folder: Path, port: int) -> None:
    from iunet.data.split import split_table

    names = ("train", "valid", "test", "indices", "preprocessing", "split")
    output = {name: str(folder / name) for name in names}
    split_table(folder / "data.parquet", folder / "data.json", output, 11, 0.2, 0.25, 256)


def measured(stage, folder: Path, port: int, answer) -> None:
    start = time.perf_counter()
    stage(folder, port)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer.send((time.perf_counter() - start, peak))


def main() -> None:
    spawn = multiprocessing.get_context("spawn")
    print(f"{'table':18}{'stage':10}{'seconds':>9}{'peak MiB':>10}")
    for name, shape in SHAPES.items():
        receive, send = spawn.Pipe()
        server = spawn.Process(target=serve_table, args=(*shape, send), daemon=True)
        server.start()
        port = receive.recv()
        with tempfile.TemporaryDirectory() as folder:
            for stage in (download, split):
                receive, send = spawn.Pipe()
                job = spawn.Process(target=measured, args=(stage, Path(folder), port, send))
                job.start()
                job.join()
                seconds, peak = receive.recv()
                print(f"{name:18}{stage.__name__:10}{seconds:9.1f}{peak:10.0f}", flush=True)
        server.terminate()


if __name__ == "__main__":
    main()
