#!/usr/bin/env python3
"""Bytes that reach the disk for each acknowledged heartbeat, by the counters of the block device.

usage: wear.py PROGRAM [NODES [SECONDS [PERIOD]]]   (as root: it makes an ext4 of its own on a loop device)

NODES nodes (up to 240; 50 if unset) send a heartbeat each PERIOD s (5 if unset), as an agent does:
four interfaces, one radio, six neighbours, 24 readings. Counted are the sectors written to the device
(/sys/block/loopN/stat) after WARM_UP_S seconds (130 if unset), the journal of the file system included,
over the heartbeats answered with 200.
"""

import base64
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


def identity(kind, number):
    return f"00000000-0000-000{kind}-0000-{number:012x}"


def prepare(program, folder, nodes):
    """A store with approved nodes."""
    lines = ['[scenario]\ntitle = "wear"\nstep_s = 1.0\nduration_s = 2\n[terrain]\nflat_msl_m = 0\n']
    for number in range(nodes):
        key = base64.b64encode(random.Random(number).randbytes(32)).decode()
        node, registration = identity(2, number), identity(1, number)
        lines.append(
            "[[command]]\nat_s = 0\ncommand = \"onboarding.request\"\n"
            f'registration = "{registration}"\nnode = "{node}"\npublic_key = "{key}"\n'
            f'shown = {{ mac = "{mac(number)}", hostname = "node-{number}", '
            f'source_ip = "10.41.0.9", underlay_ip = "10.41.0.9", proof = "absent", '
            "mac_verified = false }\n"
            "[[command]]\nat_s = 1\ncommand = \"onboarding.approve\"\n"
            f'registration = "{registration}"\nnode = "{node}"\nby = "wear"\n'
        )
    scenario = os.path.join(folder, "nodes.toml")
    with open(scenario, "w") as file:
        file.write("".join(lines))
    sh(program, "run", scenario, "--store", os.path.join(folder, "world.db"))
    os.remove(scenario)


def beat(number, seq, boot, chance):
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
        "node_id": identity(2, number), "mac": mac(number), "hostname": f"node-{number}",
        "agent_version": "0.1.0", "boot_id": boot, "seq": seq, "uptime_s": seq * 5,
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

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.address = address
        self.socket = socket.create_connection((host, int(port)))
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


def measure(program, mount, device, nodes, seconds, period_s):
    prepare(program, mount, nodes)
    secret = os.path.join(mount, "password")
    with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(PASSWORD + "\n")
    server = subprocess.Popen(
        [program, "serve", "gateway", "--gateway-bind", "127.0.0.1:0", "--tunnel", "off",
         "--db", f"{mount}/world.db", "--state", f"{mount}/state", "--heartbeat-s", str(period_s),
         "--admin-password-file", secret],
        cwd=mount, stderr=subprocess.PIPE, text=True, env={"NO_COLOR": "1", "PATH": os.environ["PATH"]})
    for line in server.stderr:
        if found := re.search(r"gateway listening on http://([^, ]+)", line):
            address = found[1]
            break
    threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
    status, body = Client(address).post("/api/auth/login", {"username": "admin", "password": PASSWORD})
    assert status == 200, body
    token = json.loads(body)["access_token"]
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
                    "/v1/nodes/heartbeat", beat(number, seq, f"boot-{number}", chance), token)
                if status != 200:
                    refused.append((status, body[:200]))
                elif counting.is_set():
                    answered[0] += 1
                    waits.append(time.monotonic() - sent)

    threads = [threading.Thread(target=drive, args=(place,)) for place in range(CONNECTIONS)]
    [thread.start() for thread in threads]
    time.sleep(WARM_UP_S)
    os.sync()
    before = written(device)
    counting.set()
    [thread.join() for thread in threads]
    os.sync()
    bytes_written = written(device) - before
    server.terminate()
    server.wait()
    waits.sort()
    assert answered[0], refused[:3]
    print(f"{nodes} nodes each {period_s} s for {seconds} s: {answered[0]} heartbeats, {bytes_written / answered[0]:.0f} bytes each, "
          f"median {waits[len(waits) // 2] * 1e3:.1f} ms, p99 {waits[len(waits) * 99 // 100] * 1e3:.1f} ms, "
          f"{len(refused)} refused {refused[:1]}")


def main():
    program = os.path.abspath(sys.argv[1])
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    period_s = float(sys.argv[4]) if len(sys.argv) > 4 else 5
    with tempfile.TemporaryDirectory() as folder:
        image, mount = f"{folder}/image", f"{folder}/mount"
        with open(image, "wb") as file:
            file.truncate(1 << 30)
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


if __name__ == "__main__":
    main()
