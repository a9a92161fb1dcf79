# The HTTP server under ASan and UBSan against a model of HTTP written as patterns: `make fuzz`, with SEED and MINUTES.
# Each game is a connection: requests, sound or damaged, cut anywhere, one or many at a time, perhaps half closed.
import atexit, os, random, re, socket, subprocess, sys, tempfile, time

seed = int(os.environ.get("SEED") or 1)
minutes = float(os.environ.get("MINUTES") or 1)
folder = tempfile.mkdtemp()
binary = os.path.join(folder, "serve")
subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                "-include", "src/math_strict.h", "-D_DEFAULT_SOURCE", "tools/fuzz_serve.c", "src/serve.c", "-o", binary], check=True)
rng = random.Random(seed)
HEAD = 16384
TOKEN = rb"[0-9A-Za-z!#$%&'*+\-.^_`|~]+"
LINE = re.compile(rb"([A-Z]{1,20}) (/[!-~]*) HTTP/1\.([01])")
FIELD = re.compile(rb"(" + TOKEN + rb"):[ \t]*([^\x00-\x08\x0a-\x1f]*)")


def start(seconds=20, size=1.28e8):
    port = 20000 + os.getpid() % 10000 + rng.randrange(10000)
    server = subprocess.Popen([binary, str(port), str(seconds), str(size)],
                              env=dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1"))
    atexit.register(server.kill)
    for i in range(100):
        try:
            connect(port).close()
            return server, port
        except OSError:
            time.sleep(0.05)
    sys.exit("FAILED: the server did not start")


def connect(port, wait=20):
    c = socket.create_connection(("127.0.0.1", port))
    c.settimeout(wait)
    return c


def end(server, port):
    """Ends the server, which says if memory was lost or misused."""
    c = connect(port)
    c.sendall(b"GET /end HTTP/1.1\r\n\r\n")
    if server.wait(20):
        sys.exit(f"FAILED: the server ended with {server.returncode}, SEED={seed}")


def digest(body):
    h = 2166136261
    for b in body:
        h = (h ^ b) * 16777619 & 0xFFFFFFFF
    return h


def expected(stream):
    """What is to be answered: a list of (status, body or None), and whether the connection is then closed."""
    out = []
    while stream:
        at = stream[:HEAD].find(b"\r\n\r\n")
        if at < 0:
            return (out + [(400, None)], True) if len(stream) >= HEAD else (out, False)
        lines = stream[:at].split(b"\r\n")
        line = LINE.fullmatch(lines[0])
        fields = [FIELD.fullmatch(x) for x in lines[1:]]
        names = [f[1].lower() if f else b"" for f in fields]
        sound = line and all(fields) and names.count(b"content-length") < 2 and names.count(b"authorization") < 2
        if not sound:
            return out + [(400, None)], True
        values = {n: f[2].strip(b" \t") for n, f in zip(names, fields)}
        length = values.get(b"content-length", b"0")
        if not length:
            return out + [(400, None)], True
        if b"upgrade" in names:
            return out + [(426, b"")], True
        if b"transfer-encoding" in names or not re.fullmatch(rb"[0-9]{1,15}", length) or int(length) > 1e6:
            return out + [(413, b"")], True
        stream = stream[at + 4:]
        if len(stream) < int(length):
            return out, False
        body, stream = stream[:int(length)], stream[int(length):]
        path, _, query = line[2].partition(b"?")
        text = b"|".join([line[1], path, query, values.get(b"authorization", b"-"), b"%d" % int(length), b"%d" % digest(body)])
        closes = line[3] == b"0" or any(n == b"connection" and f[2].strip(b" \t").lower() == b"close" for n, f in zip(names, fields))
        out.append((200, b"" if line[1] == b"HEAD" else text))
        if closes:
            return out, True
    return out, False


def request():
    body = bytes(rng.choices(range(256), k=rng.choice([0, 0, 1, 7, 300, 16383, 16384, 16385, 40000])))
    fields = [b"Host: x"]
    if body or rng.random() < 0.5:
        fields.append(b"Content-Length: %d" % len(body))
    if rng.random() < 0.5:
        fields.append(b"authorization:\tBearer \xff%d \t" % rng.randrange(9))
    if rng.random() < 0.1:
        fields.append(rng.choice([b"Expect: 100-continue", b"Connection: close", b"Connection: keep-alive", b"Upgrade: h2c"]))
    if rng.random() < 0.1:
        fields.append(rng.choice([b"Content-Length: 0", b"Content-Length: -1", b"Content-Length: 1e3", b"Content-Length:", b"Content-Length: 5, 5",
                                  b"Content-Length: 999999999999999", b"Content-Length: " + b"0" * 20, b"Transfer-Encoding: chunked",
                                  b"Transfer-Encoding: gzip, chunked", b"A : b", b" folded", b": x", b"A: \x00", b"A: \x01", b"A: b\rc", b"A: b\nc"]))
    rng.shuffle(fields)
    path = b"/" + bytes(rng.choices(b"abc%?&=/.~", k=rng.choice([0, 3, 30])))
    head = b"\r\n".join([rng.choice([b"GET", b"POST", b"HEAD", b"M" * rng.choice([20, 21])]) + b" " + path + rng.choice([b" HTTP/1.1"] * 8 + [b" HTTP/1.0", b" HTTP/2.0", b""])] + fields)
    if rng.random() < 0.15: # a head whose length is about that of the buffer
        head += b"\r\nX: " + b"y" * max(0, HEAD - len(head) - 9 + rng.randrange(-3, 4))
    out = head + b"\r\n\r\n" + body
    for i in range(rng.choice([0] * 7 + [1, 2])): # damage
        at = rng.randrange(len(head) + 4)
        out = rng.choice([out[:at] + bytes([rng.randrange(256)]) + out[at + 1:], out[:at] + out[at + 1:], out[:at] + rng.choice([b"\r\n", b"\n", b"\0", b" "]) + out[at:]])
    return out


def answers(got, bare):
    """The answers that are whole; `bare`: which have no body."""
    out = []
    while got:
        if got.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"):
            got = got[25:]
            continue
        m = re.match(rb"HTTP/1\.1 (\d+) \w+\r\nContent-Length: (\d+)\r\nConnection: (close|keep-alive)\r\n\r\n", got)
        n = 0 if len(out) < len(bare) and bare[len(out)] else int(m[2]) if m else 0
        if not m or len(got) < m.end() + n:
            return out + ([(0, got)] if not m and b"\r\n\r\n" in got else [])
        out.append((int(m[1]), got[m.end():m.end() + n]))
        got = got[m.end() + n:]
    return out


def play(port):
    stream = b"".join(request() for i in range(rng.choice([1, 1, 2, 5])))
    if rng.random() < 0.2:
        stream = stream[:rng.randrange(len(stream) + 1)]
    right, closed = expected(stream)
    bare = [text == b"" for status, text in right]
    how = rng.choice(["whole", "whole", "pieces", "bytes"])
    cuts = [] if how == "whole" else sorted(rng.randrange(len(stream) + 1) for i in range(5)) if how == "pieces" else list(range(1, min(len(stream), 200)))
    c = connect(port)
    got = b""
    try:
        for a, b in zip([0] + cuts, cuts + [len(stream)]):
            c.sendall(stream[a:b])
        if rng.random() < 0.02: # resets the connection
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            c.close()
            return
        half = rng.random() < 0.5
        if half:
            c.shutdown(socket.SHUT_WR)
        while half or closed or len(answers(got, bare)) < len(right):
            more = c.recv(65536)
            if not more:
                break
            got += more
    except (BrokenPipeError, ConnectionResetError): # it is not read to its end what comes behind a last request
        if not closed:
            raise
    said = answers(got, bare)
    same = len(said) == len(right) and all(s == r and (t is None or t == u) for (r, t), (s, u) in zip(right, said))
    if not same:
        sys.exit(f"FAILED: SEED={seed}\nsent {stream[:600]}\nexpected {right}\ngot {said}")
    c.close()


server, port = start()
games = 0
stop = time.time() + 60 * minutes
while time.time() < stop:
    play(port)
    games += 1
end(server, port)
print(f"{games} connections: no difference, no report of a sanitizer")

# Time and room: a byte now and then, a body without an end, answers that nobody takes, bodies that are never whole
server, port = start(seconds=1)


def memory():
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{server.pid}/status").read())[1]) / 1024


drip = connect(port)
drip.sendall(b"POST / HTTP/1.1\r\n")
flood = connect(port)
flood.sendall(b"POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n")
flood.setblocking(False)
lost = set()
for i in range(80):
    for name, c, text in (("drip", drip, b"A"), ("flood", flood, b"x" * 1000)):
        try:
            if name not in lost:
                c.send(text)
        except BlockingIOError:
            pass
        except OSError:
            lost.add(name)
    time.sleep(0.05)
print("hung up on:", sorted(lost))
end(server, port)
server, port = start(size=5e7)
before = memory()
slow = []
for i in range(100): # 4 MB each, beside 1 MB of an unfinished body each
    slow += [connect(port), connect(port)]
    slow[-2].sendall(b"GET /big HTTP/1.1\r\n\r\n")
    slow[-1].sendall(b"POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 100000)
c = connect(port)
c.sendall(b"GET /alive HTTP/1.1\r\n\r\n")
alive = b"GET|/alive" in c.recv(1000)
most = memory() - before
print(f"held at most {most:.0f} MB; others are answered: {alive}")
for c in slow:
    c.close()
end(server, port)
if lost != {"drip", "flood"} or not alive or most > 150:
    sys.exit("FAILED: time or room")
