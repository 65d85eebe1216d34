"""A small server on loopback that speaks OpenML: task, description, features, qualities, data.

The data file is served as ARFF under /data/download and as Parquet from a bucket, as OpenML's
object store does. `faults` maps the beginning of a path to what goes wrong there, and how often.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

import pandas as pd

API = "/api/v1/xml"
ARFF, PARQUET = "/data/download/7/table.arff", "/datasets/0007/dataset_7.pq"
TASK_ID, DATASET_ID = 233999, 7


PAGES = {
    "500": (500, b"<html>Internal Server Error"),
    "503": (503, b"<html><body><h1>503 Service Unavailable</h1>No server.</body></html>"),
    "html": (200, b"<html><body>Please log in to this network.</body></html>"),
    "empty": (200, b""),
}


@dataclass
class Fault:
    kind: str  # 500, 503 (a proxy's page), html (of a captive portal), empty, cut, damaged
    times: int = 10**9


@dataclass
class OpenMLStandIn:
    """What the server serves; change it in a test before the client asks."""

    frame: pd.DataFrame
    default_target: str
    task_target: str | None = None
    md5: str | None = "right"
    parquet: bool = True
    ignore: str | None = None
    announced_rows: str | None = None
    faults: dict[str, Fault] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, path: str) -> tuple[int, str, bytes]:
        routes = {
            f"{API}/task/{TASK_ID}": self._task,
            f"{API}/data/{DATASET_ID}": self._description,
            f"{API}/data/features/{DATASET_ID}": self._features,
            f"{API}/data/qualities/{DATASET_ID}": self._qualities,
        }
        if path in routes:
            return 200, "text/xml", routes[path]().encode()
        if path == ARFF:
            return 200, "text/plain; charset=utf-8", self.arff()
        if path == PARQUET:
            return 200, "application/octet-stream", self.parquet_bytes()
        error = "<oml:code>151</oml:code><oml:message>Unknown task</oml:message>"
        return 412, "text/xml", _xml("error", error).encode()

    def arff(self) -> bytes:
        lines = ["@relation table"]
        for name, column in self.frame.items():
            kind = "numeric"
            if column.dtype == "category":
                kind = "{" + ",".join(map(str, column.cat.categories)) + "}"
            lines.append(f"@attribute '{name}' {kind}")
        lines.append("@data")
        for row in self.frame.itertuples(index=False):
            lines.append(",".join("?" if pd.isna(value) else str(value) for value in row))
        return ("\n".join(lines) + "\n").encode()

    def parquet_bytes(self) -> bytes:
        buffer = io.BytesIO()
        self.frame.to_parquet(buffer)
        return buffer.getvalue()

    def _task(self) -> str:
        target = self.task_target or self.default_target
        return _xml(
            "task",
            f"""<oml:task_id>{TASK_ID}</oml:task_id><oml:task_name>t</oml:task_name>
            <oml:task_type_id>1</oml:task_type_id>
            <oml:task_type>Supervised Classification</oml:task_type>
            <oml:input name="source_data"><oml:data_set>
              <oml:data_set_id>{DATASET_ID}</oml:data_set_id>
              <oml:target_feature>{escape(target)}</oml:target_feature>
            </oml:data_set></oml:input>
            <oml:input name="estimation_procedure"><oml:estimation_procedure>
              <oml:id>1</oml:id><oml:type>holdout</oml:type>
              <oml:data_splits_url>{self.url}/splits.arff</oml:data_splits_url>
              <oml:parameter name="percentage">33</oml:parameter>
              <oml:parameter name="stratified_sampling">true</oml:parameter>
            </oml:estimation_procedure></oml:input>""",
        )

    def _description(self) -> str:
        md5 = hashlib.md5(self.arff()).hexdigest() if self.md5 == "right" else self.md5
        optional = f"<oml:md5_checksum>{md5}</oml:md5_checksum>" if md5 else ""
        if self.parquet:
            optional += f"<oml:parquet_url>{self.url}{PARQUET}</oml:parquet_url>"
        if self.ignore:
            optional += f"<oml:ignore_attribute>{self.ignore}</oml:ignore_attribute>"
        return _xml(
            "data_set_description",
            f"""<oml:id>{DATASET_ID}</oml:id><oml:name>table</oml:name><oml:version>3</oml:version>
            <oml:description>a table</oml:description><oml:format>ARFF</oml:format>
            <oml:upload_date>2020-01-01T00:00:00</oml:upload_date><oml:licence>Public</oml:licence>
            <oml:url>{self.url}{ARFF}</oml:url><oml:file_id>7</oml:file_id>
            <oml:default_target_attribute>{escape(self.default_target)}</oml:default_target_attribute>
            <oml:visibility>public</oml:visibility><oml:status>active</oml:status>{optional}""",
        )

    def _features(self) -> str:
        features = ""
        for index, (name, column) in enumerate(self.frame.items()):
            nominal = column.dtype == "category"
            values = "".join(
                f"<oml:nominal_value>{escape(str(level))}</oml:nominal_value>"
                for level in (column.cat.categories if nominal else [])
            )
            features += f"""<oml:feature><oml:index>{index}</oml:index><oml:name>{name}</oml:name>
                <oml:data_type>{"nominal" if nominal else "numeric"}</oml:data_type>{values}
                <oml:is_target>{str(name == self.default_target).lower()}</oml:is_target>
                <oml:is_ignore>false</oml:is_ignore>
                <oml:is_row_identifier>false</oml:is_row_identifier>
                <oml:number_of_missing_values>{column.isna().sum()}</oml:number_of_missing_values>
                </oml:feature>"""
        return _xml("data_features", features)

    def _qualities(self) -> str:
        rows = self.announced_rows or f"{len(self.frame)}.0"
        return _xml(
            "data_qualities",
            f"""<oml:quality><oml:name>NumberOfInstances</oml:name>
            <oml:value>{rows}</oml:value></oml:quality>
            <oml:quality><oml:name>NumberOfFeatures</oml:name>
            <oml:value>{self.frame.shape[1]}.0</oml:value></oml:quality>""",
        )


def _xml(tag: str, content: str) -> str:
    return f'<oml:{tag} xmlns:oml="http://openml.org/openml">{content}</oml:{tag}>'


@contextlib.contextmanager
def serve(stand_in: OpenMLStandIn) -> Iterator[OpenMLStandIn]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            path = self.path.split("?")[0]
            stand_in.requests.append(f"{self.command} {path}")
            fault = self._fault(path)
            status, kind, body = stand_in.answer(path)
            if fault in PAGES:
                status, body = PAGES[fault]
                kind = "text/html"
            etag = hashlib.md5(body).hexdigest()
            if fault == "damaged":
                body = body[:-8] + b"damaged!"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT")
            self.send_header("ETag", f'"{etag}"')
            self.send_header("Connection", "close")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)
            self.close_connection = True

        def _fault(self, path: str) -> str | None:
            for prefix, fault in stand_in.faults.items():
                verb, _, prefix = prefix.rpartition(" ")
                if path.startswith(prefix) and self.command == (verb or "GET") and fault.times > 0:
                    fault.times -= 1
                    return fault.kind
            return None

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stand_in.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
