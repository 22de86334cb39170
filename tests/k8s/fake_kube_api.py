"""A stand-in for the Kubernetes API server, its job controller and one kubelet: enough for dagster-k8s, on loopback.

Jobs make pods; pods run their commands as local processes: native sidecars first, each until its start-up probe
passes, then the main container; sidecars are stopped when it ends. `backoffLimit`, `activeDeadlineSeconds`, the number
of GPUs, deletion and eviction behave as the Kubernetes documentation says. Volumes and images are not modelled.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Object = dict[str, Any]
_PATH = re.compile(r"/(?:api/v1|apis/batch/v1)/namespaces/([^/]+)/(pods|jobs|events)(?:/([^/]+))?(?:/(log|status))?")
_LISTS = {"pods": "PodList", "jobs": "JobList", "events": "EventList"}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Cluster:
    """State of the cluster. `environment` is what every container's process starts with."""

    gpus: int
    environment: dict[str, str]
    objects: dict[tuple[str, str, str], Object] = field(default_factory=dict)
    logs: dict[str, list[bytes]] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    _processes: dict[str, list[subprocess.Popen[bytes]]] = field(default_factory=dict)
    _stopping: bool = False

    # What the API server is asked -------------------------------------------------------------------------------------

    def create(self, kind: str, namespace: str, body: Object) -> Object | None:
        """The stored object, or None where the name is taken."""
        with self.lock:
            key = (kind, namespace, body["metadata"]["name"])
            if key in self.objects:
                return None
            body["metadata"] |= {"namespace": namespace, "uid": str(uuid.uuid4()), "creationTimestamp": _now()}
            body["status"] = {"startTime": _now()} if kind == "jobs" else {"phase": "Pending"}
            self.objects[key] = body
        if kind == "jobs":
            threading.Thread(target=self._control_job, args=(body,), daemon=True).start()
        return body

    def of_kind(self, kind: str, namespace: str, labels: dict[str, str], name: str | None = None) -> list[Object]:
        """Objects of one kind that carry all `labels`."""
        with self.lock:
            return [
                item
                for (its_kind, its_namespace, its_name), item in self.objects.items()
                if (its_kind, its_namespace) == (kind, namespace)
                and (name is None or its_name == name)
                and labels.items() <= item["metadata"].get("labels", {}).items()
            ]

    def delete(self, kind: str, namespace: str, name: str) -> bool:
        """Remove an object; the processes of a pod end with it."""
        with self.lock:
            gone = self.objects.pop((kind, namespace, name), None)
        if kind == "pods" and gone is not None:
            self._kill(name)
        return gone is not None

    def evict(self, name: str) -> None:
        """What the kubelet does to a pod when its node runs out of memory or disk."""
        with self.lock:
            pod = next(item for (kind, _, its_name), item in self.objects.items() if (kind, its_name) == ("pods", name))
            pod["status"] |= {"phase": "Failed", "reason": "Evicted"}
        self._kill(name)

    def stop(self) -> None:
        """End every process."""
        self._stopping = True
        for name in list(self._processes):
            self._kill(name)

    # The job controller -----------------------------------------------------------------------------------------------

    def _control_job(self, job: Object) -> None:
        spec = job["spec"]
        started = time.monotonic()
        deadline = started + spec.get("activeDeadlineSeconds", 10**9)
        failed = 0
        while not self._stopping:
            pod = self._make_pod(job)
            worker = threading.Thread(target=self._run_pod, args=(pod,), daemon=True)
            worker.start()
            phase = self._await(job, pod, worker, deadline)
            if phase == "Succeeded":
                job["status"] |= {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
                return
            failed += 1
            if phase == "Deadline" or failed > spec.get("backoffLimit", 6):
                reason = "DeadlineExceeded" if phase == "Deadline" else "BackoffLimitExceeded"
                job["status"] |= {
                    "failed": failed,
                    "conditions": [{"type": "Failed", "status": "True", "reason": reason}],
                }
                return
            job["status"]["failed"] = failed

    def _make_pod(self, job: Object) -> Object:
        template = job["spec"]["template"]
        name = f"{job['metadata']['name']}-{uuid.uuid4().hex[:5]}"
        namespace = job["metadata"]["namespace"]
        pod: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": str(uuid.uuid4()),
                "labels": {**template["metadata"].get("labels", {}), "job-name": job["metadata"]["name"]},
            },
            "spec": template["spec"],
            "status": {"phase": "Pending"},
        }
        with self.lock:
            self.objects["pods", namespace, name] = pod
        return pod

    def _await(self, job: Object, pod: Object, worker: threading.Thread, deadline: float) -> str:
        key = ("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
        while True:
            if time.monotonic() > deadline:
                self.delete(*key)
                return "Deadline"
            with self.lock:
                gone = key not in self.objects
                phase: str = pod["status"]["phase"]
            if gone:
                return "Deleted"
            if phase in {"Succeeded", "Failed"}:
                worker.join(timeout=10)
                return phase
            time.sleep(0.05)

    # The kubelet ------------------------------------------------------------------------------------------------------

    def _run_pod(self, pod: Object) -> None:
        spec, name = pod["spec"], pod["metadata"]["name"]
        wanted = sum(
            int(container.get("resources", {}).get("requests", {}).get("nvidia.com/gpu", 0))
            for container in spec.get("initContainers", []) + spec["containers"]
        )
        if wanted > self.gpus:
            pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
            return
        for container in spec.get("initContainers", []):
            assert container["restartPolicy"] == "Always", "only sidecars are modelled"
            self._start(name, container)
            while not self._probe(container):
                if self._gone(pod):
                    return
                time.sleep(0.1)
        (main,) = spec["containers"]
        process = self._start(name, main)
        pod["status"] |= {"phase": "Running", "startTime": _now()}
        code = process.wait()
        self._kill(name)
        if self._gone(pod):
            return
        state = {"exitCode": code if code >= 0 else 128 - code, "finishedAt": _now(), "startedAt": _now()}
        # The kernel's out-of-memory killer sends SIGKILL.
        state["reason"] = "OOMKilled" if code == -signal.SIGKILL else "Completed" if code == 0 else "Error"
        status = {"name": main["name"], "ready": False, "restartCount": 0, "image": main["image"], "imageID": ""}
        pod["status"]["containerStatuses"] = [{**status, "state": {"terminated": state}}]
        if pod["status"]["phase"] == "Running":
            pod["status"]["phase"] = "Succeeded" if code == 0 else "Failed"

    def _start(self, pod: str, container: Object) -> subprocess.Popen[bytes]:
        env = {item["name"]: item["value"] for item in container.get("env", []) if "value" in item}
        command = container.get("command", []) + container.get("args", [])
        process = subprocess.Popen(
            command,
            env=self.environment | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with self.lock:
            self._processes.setdefault(pod, []).append(process)
            self.started.append(f"{pod}/{container['name']}")
        threading.Thread(target=self._collect, args=(pod, process), daemon=True).start()
        return process

    def _collect(self, pod: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as stream:
            for line in stream:
                self.logs.setdefault(pod, []).append(line)

    def _probe(self, container: Object) -> bool:
        command = container["startupProbe"]["exec"]["command"]
        done = subprocess.run(command, env=self.environment, capture_output=True, check=False, timeout=20)
        return done.returncode == 0

    def _gone(self, pod: Object) -> bool:
        key = ("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
        return self._stopping or key not in self.objects

    def _kill(self, pod: str) -> None:
        for process in self._processes.pop(pod, []):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cluster: Cluster

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def _answer(self, body: Object | bytes, code: int = 200) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain" if isinstance(body, bytes) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _status(self, code: int, reason: str) -> None:
        self._answer({"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": reason}, code)

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else {}
        if parts.path == "/version":
            self._answer({"major": "1", "minor": "34", "gitVersion": "v1.34.0"})
            return
        match = _PATH.fullmatch(parts.path)
        if match is None:
            self._status(404, "NotFound")
            return
        namespace, kind, name, part = match.groups()
        if self.command == "POST":
            made = self.cluster.create(kind, namespace, body)
            self._answer(made, 201) if made is not None else self._status(409, "AlreadyExists")
        elif name is None:
            self._list(kind, namespace, query)
        elif self.command == "DELETE":
            done = self.cluster.delete(kind, namespace, name)
            self._status(200, "Success") if done else self._status(404, "NotFound")
        else:
            self._read(kind, namespace, name, part)

    def _list(self, kind: str, namespace: str, query: dict[str, str]) -> None:
        labels = dict(item.split("=", 1) for item in query.get("labelSelector", "").split(",") if item)
        wanted = dict(item.split("=", 1) for item in query.get("fieldSelector", "").split(",") if item)
        items = self.cluster.of_kind(kind, namespace, labels, wanted.get("metadata.name"))
        self._answer({"kind": _LISTS[kind], "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items})

    def _read(self, kind: str, namespace: str, name: str, part: str | None) -> None:
        found = self.cluster.objects.get((kind, namespace, name))
        if found is None:
            self._status(404, "NotFound")
        elif part == "log":
            self._answer(b"".join(self.cluster.logs.get(name, [])))
        else:
            self._answer(found)

    do_GET = do_POST = do_DELETE = _handle  # noqa: N815 - names that http.server looks for


@contextmanager
def fake_cluster(gpus: int, environment: dict[str, str]) -> Iterator[tuple[Cluster, str]]:
    """A running cluster and the URL of its API."""
    cluster = Cluster(gpus, environment)
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield cluster, f"http://127.0.0.1:{server.server_port}"
    finally:
        cluster.stop()
        server.shutdown()
        server.server_close()
        thread.join()
