# A service manager's end of NOTIFY_SOCKET: prints each message as one line of JSON, with the process that has sent it.
import array
import json
import os
import socket
import struct
import sys

SO_PASSCRED = 16
SCM_CREDENTIALS = 2
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.setsockopt(socket.SOL_SOCKET, SO_PASSCRED, 1)
manager.bind(sys.argv[1])
print(json.dumps("bound"), flush=True)
while True:
    data, ancillary, _, _ = manager.recvmsg(4096, 1024)
    pid = None
    for _, kind, bytes in ancillary:
        if kind == SCM_CREDENTIALS:
            pid = struct.unpack("3i", bytes)[0]
        if kind == socket.SCM_RIGHTS:
            # What it closes tells the sender that its messages have been read.
            descriptors = array.array("i")
            descriptors.frombytes(bytes)
            for descriptor in descriptors:
                os.close(descriptor)
    fields = dict(line.split("=", 1) for line in data.decode().split("\n") if "=" in line)
    print(json.dumps({"pid": pid, "fields": fields}), flush=True)
