# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints when a server sends how many bytes of payload, in seconds since 1970. Runs on its host: PORT (TCP, IPv4)."""

import socket
import sys
import time

ALL_PROTOCOLS = 3
TCP = 6
port = int(sys.argv[1])

packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL_PROTOCOLS))
while True:
    packet, (_, protocol, direction, *_) = packets.recvfrom(128)
    if direction != socket.PACKET_OUTGOING or protocol != 0x0800 or packet[9] != TCP:
        continue
    size, header = int.from_bytes(packet[2:4]), packet[0] % 16 * 4
    payload = size - header - packet[header + 12] // 16 * 4
    if payload and int.from_bytes(packet[header : header + 2]) == port:
        print(time.time(), payload, flush=True)
