"""OpenML, through its own client, by task id.

The data are those of the task's data set with the data set's default target. What arrives is
checked against what the server says of it: the md5 where there is one (the description's for ARFF,
the ETag for Parquet), the names of the columns and the number of rows always.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

from iunet.data.registry import Dataset
from iunet.data.sources import SourceSettings, with_retries
from iunet.data.table import RawTable
from iunet.errors import UserError, one_line

if TYPE_CHECKING:
    import openml
    import pandas as pd

log = logging.getLogger(__name__)
DATABASE_BUSY = 107  # OpenML's own error code for a passing overload


class DamagedTransfer(Exception):
    """What arrived is not what the server announced; worth another attempt."""


def fetch(dataset: Dataset, settings: SourceSettings, scratch: Path) -> RawTable:
    # The client writes a cache and a config file when it is imported; not to the user's home.
    os.environ["OPENML_CACHE_DIR"] = os.environ["XDG_CONFIG_HOME"] = str(scratch)
    import openml
    import requests
    import urllib3

    # Parquet is hundreds of times faster to read than ARFF, and needs far less memory.
    os.environ["OPENML_SKIP_PARQUET"] = str(settings.openml_format == "arff").lower()
    openml.config.server = settings.openml_server
    openml.config.set_retry_policy("human", n_retries=1)  # ours retries the whole transfer

    def attempt(number: int) -> RawTable:
        # A new cache for every attempt: the client would reuse a damaged file.
        openml.config.set_root_cache_directory(scratch / f"attempt{number}")
        return _fetch_once(dataset, settings)

    return with_retries(
        attempt,
        f"OpenML task {dataset.location} at {settings.openml_server}",
        settings,
        transient=(
            DamagedTransfer,
            openml.exceptions.OpenMLServerError,
            openml.exceptions.OpenMLHashException,
            requests.exceptions.RequestException,
            urllib3.exceptions.HTTPError,
            ConnectionError,
        ),
    )


def _fetch_once(dataset: Dataset, settings: SourceSettings) -> RawTable:
    import openml

    parts = ("download_data", "download_qualities", "download_features_meta_data")
    what_to_get = dict.fromkeys(parts, True)
    try:
        task = openml.tasks.get_task(int(dataset.location), download_splits=False, **what_to_get)
        described = openml.datasets.get_dataset(task.dataset_id, **what_to_get)
    except openml.exceptions.OpenMLServerException as error:
        if error.code == DATABASE_BUSY:
            raise DamagedTransfer(one_line(error)) from error
        raise UserError(
            f"{settings.openml_server} refuses OpenML task {dataset.location} "
            f"({one_line(error)}). Check the number."
        ) from error
    except (KeyError, TypeError, ExpatError) as error:  # an error page of a proxy, say
        raise DamagedTransfer(f"the answer is not OpenML's: {one_line(error)}.") from error
    parquet = described.parquet_file and _parquet_url(settings.openml_server, described.dataset_id)
    md5 = _check_parquet(parquet, described.parquet_file) if parquet else described.md5_checksum
    frame, nominal = _read(described)
    return RawTable(
        frame=frame,
        target=described.default_target_attribute or task.target_name,
        categorical=nominal,
        provenance={
            "source": "openml",
            "task_id": int(dataset.location),
            "dataset_id": int(described.dataset_id),
            "dataset_name": described.name,
            "version": str(described.version),
            "format": "parquet" if parquet else "arff",
            "url": parquet or described.url,
            "md5": md5,
        },
    )


def _parquet_url(server: str, dataset_id: int) -> str:
    """Where the Parquet file lies, by the server's REST API: the client does not say it."""
    import requests

    answer = requests.get(f"{server.rstrip('/')}/data/{dataset_id}", timeout=60)
    answer.raise_for_status()
    try:
        found = ElementTree.fromstring(answer.content).findtext("{*}parquet_url")
    except ElementTree.ParseError as error:
        raise DamagedTransfer(f"the answer is not OpenML's: {one_line(error)}.") from error
    if not found:
        raise DamagedTransfer("the server's description of the data set names no Parquet file.")
    return found.strip()


def _check_parquet(url: str, path: str) -> str | None:
    """The md5 that the server announces and the file has; None if it announces none.

    The client itself compares an ARFF file with the description's md5. There is none for Parquet,
    but the object store's ETag is the md5 of a file that was uploaded in one piece.
    """
    import requests

    answer = requests.head(url, timeout=60, allow_redirects=True)
    answer.raise_for_status()
    announced = answer.headers.get("ETag", "").strip('"')
    if not re.fullmatch(r"[0-9a-f]{32}", announced):
        log.warning("%s: the server gives no md5 of this file", url)
        return None
    with Path(path).open("rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if found != announced:
        raise DamagedTransfer(
            f"{url} has the checksum {found}, but the server announces {announced}."
        )
    return found


def _read(described: openml.OpenMLDataset) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table and the names of its nominal columns, checked against the server's description."""
    try:
        frame, _, indicator, names = described.get_data(dataset_format="dataframe")
    except Exception as error:  # the parsers of both formats raise whatever they like
        raise DamagedTransfer(f"the data file cannot be read: {one_line(error)}.") from error
    frame.columns = names
    announced = {feature.name: feature for feature in described.features.values()}
    if unknown := set(names) - set(announced):
        raise DamagedTransfer(f"column '{min(unknown)}' is in the file, not in its description.")
    hidden = set(_as_list(described.ignore_attribute)) | set(_as_list(described.row_id_attribute))
    if absent := set(announced) - set(names) - hidden:
        raise DamagedTransfer(f"column '{min(absent)}' is described, but not in the file.")
    n_rows = (described.qualities or {}).get("NumberOfInstances", math.nan)
    if not math.isnan(n_rows) and int(n_rows) != len(frame):
        raise DamagedTransfer(f"{len(frame)} rows arrived of the {int(n_rows)} announced.")
    nominal = {name for name, is_nominal in zip(names, indicator, strict=True) if is_nominal}
    nominal |= {name for name in names if announced[name].data_type == "nominal"}
    return frame, tuple(name for name in names if name in nominal)


def _as_list(names: str | list[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or [])
