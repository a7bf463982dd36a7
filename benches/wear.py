#!/usr/bin/env python3
"""Bytes that reach the disk for each acknowledged heartbeat, by the counters of the block device.

usage: wear.py PROGRAM [NODES [SECONDS [PERIOD]]]   (as root: it makes an ext4 of its own on a loop device)

NODES nodes (50, then 2,000 if unset) send a heartbeat each PERIOD s (5 if unset), as an agent does:
four interfaces, one radio, six neighbours, 24 readings. Counted are the sectors written to the device
(/sys/block/loopN/stat) after WARM_UP_S seconds (130 if unset), the journal of the file system included,
over the heartbeats answered with 200. ARGUMENTS in the environment go to the server, as `--record FILE`.
With TRACE=1 the program runs under strace for the measured time, and the bytes handed to the kernel are
listed by file.
"""

import base64
import datetime
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

WARM_UP_S = int(os.environ.get("WARM_UP_S", "130"))
CONNECTIONS = 16
PASSWORD = "a long enough password"


def sh(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def mac(number):
    return "02:00:" + ":".join(f"{byte:02x}" for byte in number.to_bytes(4, "big"))


def serve(program, folder, period_s, *arguments):
    """A server over the folder, and its address."""
    server = subprocess.Popen(
        [program, "serve", "gateway", "--gateway-bind", "127.0.0.1:0", "--tunnel", "off",
         "--db", f"{folder}/world.db", "--state", f"{folder}/state", "--overlay", "10.42.0.0/16",
         "--heartbeat-s", str(period_s), "--admin-password-file", f"{folder}/password", *arguments],
        cwd=folder, stderr=subprocess.PIPE, text=True, env={"NO_COLOR": "1", "PATH": os.environ["PATH"]})
    for line in server.stderr:
        if found := re.search(r"gateway listening on http://([^, ]+)", line):
            threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
            return server, found[1]
    sys.exit("the server did not start")


def stop(server):
    server.terminate()
    server.wait()




def admit(address, nodes):
    """Admits the nodes, each from an address of its own; returns their ids and a token of the admin."""
    admin = Client(address)
    status, body = admin.post("/api/auth/login", {"username": "admin", "password": PASSWORD})
    assert status == 200, body
    token, ids = json.loads(body)["access_token"], []
    for number in range(nodes):
        ts = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
        node = Client(address, f"127.{1 + (number >> 16)}.{number >> 8 & 255}.{1 + number % 250}")
        status, body = node.post("/v1/mesh/wg-register", {
            "public_key": base64.b64encode(random.Random(number).randbytes(32)).decode(),
            "mac": mac(number), "hostname": f"node-{number}",
            "nonce": base64.b64encode(os.urandom(16)).decode(), "ts": ts})
        assert status in (200, 201, 202), body
        asked = json.loads(body)["registration_id"]
        status, body = admin.post(f"/v1/admin/registrations/{asked}/approve", {}, token)
        assert status == 200, body
        ids.append(json.loads(body)["node_id"])
        node.socket.close()
    return ids, token


def heartbeat(node, number, seq, chance):
    """A heartbeat as an agent sends it."""
    interface = lambda name: {
        "name": name, "mac": mac(number), "mtu": 1500, "operstate": "up",
        "ips": [f"10.42.{number >> 8 & 255}.{number & 255}"],
        "rx_bytes": seq * 12345 + chance.randrange(9999), "tx_bytes": seq * 2345 + chance.randrange(999),
        "rx_errors": 0, "tx_errors": 0,
    }
    neighbour = lambda at: {
        "neigh_address": mac(number + at + 1), "tq": 200 + chance.randrange(55),
        "signal_dbm": -60.0 - chance.randrange(20), "last_seen_msecs": chance.randrange(1000),
        "selected": at == 0,
    }
    readings = {f"sys.reading_{at}": round(chance.uniform(0, 100), 2) for at in range(20)}
    readings |= {"mesh.tx_mbps": round(chance.uniform(1, 40), 2), "mesh.rx_mbps": 3.25,
                 "mesh.signal_dbm": -61.0, "mesh.neighbor_count": 6.0}
    return {
        "node_id": node, "mac": mac(number), "hostname": f"node-{number}",
        "agent_version": "0.1.0", "boot_id": f"boot-{number}", "seq": seq, "uptime_s": seq * 5,
        "underlay_ip": "10.41.0.9", "signal_dbm": -61.0, "active_transport": "wifi",
        "capabilities": ["batman", "wireguard"],
        "interfaces": [interface(name) for name in ("bat0", "mesh0", "eth0", "wg0")],
        "radios": [{"ifname": "mesh0", "phy": "phy0", "type": "mesh_point", "freq_mhz": 5180,
                    "width_mhz": 20, "signal_dbm": -61.0, "tx_retries": seq * 7}],
        "mesh": {"algo_name": "BATMAN_V", "originators": 20, "neighbor_count": 6, "plink_estab": 6,
                 "links": [neighbour(at) for at in range(6)]},
        "metrics": readings,
    }


class Client:
    """One connection that is kept."""

    def __init__(self, address, source=""):
        host, port = address.rsplit(":", 1)
        self.address = address
        self.socket = socket.create_connection((host, int(port)), source_address=(source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def post(self, path, body, token=""):
        body = json.dumps(body)
        head = f"POST {path} HTTP/1.1\r\nHost: {self.address}\r\nContent-Type: application/json\r\n"
        if token:
            head += f"Authorization: Bearer {token}\r\n"
        self.socket.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        status = int(self.file.readline().split()[1])
        length = 0
        while (line := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return status, self.file.read(length)


def written(device):
    with open(f"/sys/block/{os.path.basename(device)}/stat") as file:
        return int(file.read().split()[6]) * 512


def traced(server, seconds, to):
    """Traces the writes of the server for a time."""
    return subprocess.Popen(
        ["timeout", "--signal=INT", str(seconds), "strace", "-qq", "-f", "-y", "-s0", "-o", to,
         "-e", "trace=write,pwrite64,writev,pwritev,fsync,fdatasync", "-p", str(server.pid)],
        stderr=subprocess.DEVNULL)


def list_writes(trace, heartbeats):
    """Bytes and calls by file and call."""
    sums, waiting = {}, {}
    begun = re.compile(r"(\d+) +(p?writev?(?:64)?|fsync|fdatasync)\(\d+<([^>]*)>")
    ended = re.compile(r"(\d+) .*= (\d+)$")
    with open(trace) as file:
        for line in file:
            if call := begun.match(line):
                # A call of another thread may come before its result.
                waiting[call[1]] = (os.path.basename(call[3]), call[2])
            if (result := ended.match(line)) and (key := waiting.pop(result[1], None)):
                entry = sums.setdefault(key, [0, 0])
                entry[0] += 1
                entry[1] += int(result[2])
    for (name, kind), (count, size) in sorted(sums.items()):
        if name.startswith(("world.db", "telemetry", "audit", "mount")):
            print(f"  {name} {kind}: {count} calls, {size / heartbeats:.0f} bytes a heartbeat")


def measure(program, mount, device, nodes, seconds, period_s):
    secret = os.open(os.path.join(mount, "password"), os.O_CREAT | os.O_WRONLY, 0o600)
    with open(secret, "w") as file:
        file.write(PASSWORD + "\n")
    arguments = os.environ.get("ARGUMENTS", "").split()
    server, address = serve(program, mount, period_s, *arguments)
    ids, token = admit(address, nodes)
    answered, refused, waits = [0], [], []
    counting = threading.Event()
    begun = time.monotonic()
    end = begun + WARM_UP_S + seconds

    def drive(place):
        client, chance = Client(address), random.Random(place)
        own = range(place, nodes, CONNECTIONS)
        seq = 0
        while own:
            seq += 1
            for at, number in enumerate(own):
                due = begun + (seq - 1) * period_s + (number * period_s / nodes)
                if due > end:
                    return
                time.sleep(max(0, due - time.monotonic()))
                sent = time.monotonic()
                status, body = client.post(
                    "/v1/nodes/heartbeat", heartbeat(ids[number], number, seq, chance), token)
                if status != 200:
                    refused.append((status, body[:200]))
                elif counting.is_set():
                    answered[0] += 1
                    waits.append(time.monotonic() - sent)

    threads = [threading.Thread(target=drive, args=(place,)) for place in range(CONNECTIONS)]
    [thread.start() for thread in threads]
    time.sleep(WARM_UP_S)
    trace = tempfile.NamedTemporaryFile()
    tracer = traced(server, seconds, trace.name) if os.environ.get("TRACE") == "1" else None
    os.sync()
    before = written(device)
    counting.set()
    [thread.join() for thread in threads]
    os.sync()
    bytes_written = written(device) - before
    if tracer:
        tracer.wait()
    stop(server)
    waits.sort()
    assert answered[0], refused[:3]
    print(f"{nodes} nodes each {period_s} s for {seconds} s: {answered[0]} heartbeats, {bytes_written / answered[0]:.0f} bytes each, "
          f"median {waits[len(waits) // 2] * 1e3:.1f} ms, p99 {waits[len(waits) * 99 // 100] * 1e3:.1f} ms, "
          f"{len(refused)} refused {refused[:1]}", flush=True)
    if tracer:
        list_writes(trace.name, answered[0])


def run(program, nodes, seconds, period_s):
    with tempfile.TemporaryDirectory() as folder:
        image, mount = f"{folder}/image", f"{folder}/mount"
        with open(image, "wb") as file:
            file.truncate(2 << 30)
        os.mkdir(mount)
        sh("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
        device = sh("losetup", "--find", "--show", image)
        try:
            sh("mount", device, mount)
            try:
                measure(program, mount, device, nodes, seconds, period_s)
            finally:
                sh("umount", mount)
        finally:
            sh("losetup", "--detach", device)


def main():
    program = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    period_s = float(sys.argv[4]) if len(sys.argv) > 4 else 5
    for nodes in [int(sys.argv[2])] if len(sys.argv) > 2 else [50, 2000]:
        run(program, nodes, seconds, period_s)


if __name__ == "__main__":
    main()
