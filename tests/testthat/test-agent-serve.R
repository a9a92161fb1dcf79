# A service as a process of its own, started once for all tests of this file.

skip_on_cran() # takes seconds

TOKENS <- list(choose = "choose-0123456789", report = "report-0123456789", read = "read-0123456789012",
               admin = "admin-0123456789012")

write_tokens <- function(tokens, file) writeLines(paste(names(tokens), unlist(tokens)), file)

# A port that nobody listens at, below those that systems lend to clients
free_port <- function() {
  for (port in 20000 + (Sys.getpid() + 97 * 1:100) %% 12000) {
    socket <- tryCatch(serverSocket(port), error = function(e) NULL)
    if (is.null(socket)) next
    close(socket)
    return(port)
  }
  stop("no port is free")
}

service <- local({
  running <- NULL
  function(env = parent.frame()) {
    skip_on_cran()
    skip_on_os("windows")
    for (package in c("callr", "jsonlite", "RSQLite")) skip_if_not_installed(package)
    if (!is.null(running)) return(running)
    folder <- tempfile("service")
    dir.create(folder)
    for (name in c("buttons", "two words", "ended", "advance", "daily")) {
      policy <- if (name == "advance") policy_randomised(mu = 1, block = 9) else batch_policy()
      daily <- if (name == "daily") list(max_per_person = 9, window = hours(24))
      agent <- do.call(dpts_agent, c(list(policy, c("red", "green"), file.path(folder, paste0(name, ".sqlite")), use = "arrival"), daily))
      if (name == "ended") {
        agent_reward(agent, agent_choose(agent, 9, offer = "green")$ticket, 1)
        agent_finish(agent)
      }
      agent_close(agent)
    }
    port <- free_port()
    write_tokens(TOKENS, file.path(folder, "tokens"))
    written <- file.path(folder, "written")
    # By the script for operators, which reads the environment; before, more than a pipe holds is said
    process <- callr::r_bg(function(written) {
      for (i in 1:1000) dpts:::write_log(stderr(), event = "request", message = strrep("long ", 100))
      file.create(written)
      while (file.exists(written)) Sys.sleep(0.05)
      source(system.file("service", "serve.R", package = "dpts"))
      "returned"
    }, list(written), env = c(callr::rcmd_safe_env(), DPTS_STORE = folder, DPTS_TOKENS = file.path(folder, "tokens"),
                              DPTS_PORT = port), stderr = "|", supervise = TRUE)
    withr::defer({
      process$kill()
      unlink(folder, recursive = TRUE)
    }, testthat::teardown_env())
    wait <- function(ready) {
      for (i in 1:1800) if (!ready() && process$is_alive()) Sys.sleep(0.1)
      if (!ready()) stop("the service did not start")
    }
    wait(function() file.exists(written))
    unread <- process$read_error_lines()
    while (length(more <- process$read_error_lines())) unread <- c(unread, more)
    unlink(written)
    lines <- character()
    log <- function() {
      while (length(more <- process$read_error_lines())) lines <<- c(lines, more)
      lapply(lines, jsonlite::parse_json)
    }
    wait(function() length(log()) > 0)
    running <<- list(process = process, port = port, folder = folder, log = log, unread = unread,
                     url = sprintf("http://127.0.0.1:%d", port))
    running
  }
})

# The status line and the rest of what the service says to these bytes
send <- function(port, ..., body = raw(), wait = 60) {
  con <- socketConnection("127.0.0.1", port, open = "r+b", blocking = TRUE, timeout = wait)
  on.exit(close(con))
  writeBin(c(charToRaw(paste0(c(..., "Connection: close", "", ""), collapse = "\r\n")), body), con)
  readLines(con, warn = FALSE)
}

test_that("the start line has address and version, and a request is answered and noted", {
  s <- service()
  start <- s$log()[[1]]
  expect_equal(start$event, "start")
  expect_equal(start$address, s$url)
  expect_equal(start$version, as.character(packageVersion("dpts")))
  expect_equal(start$experiments, 5)
  answer <- send(s$port, "GET /ready HTTP/1.1", "Host: x")
  expect_equal(answer[1], "HTTP/1.1 200 OK")
  expect_match(answer[length(answer)], '"experiments":5', fixed = TRUE)
  expect_equal(s$log()[[2]]$path, "/ready")
})

test_that("token and size are checked before the body has come", {
  s <- service()
  head <- c("POST /experiments/buttons/choose HTTP/1.1", "Host: x")
  # Of these bodies nothing is ever sent, so that whoever waited for them would not answer.
  expect_match(send(s$port, head, "Content-Length: 100")[1], " 401 ")
  expect_match(send(s$port, head, "Authorization: Bearer read-0123456789012", "Content-Length: 100")[1], " 403 ")
  long <- send(s$port, head, "Authorization: Bearer choose-0123456789", "Content-Length: 1000001")
  expect_match(long[1], " 413 ")
  expect_equal(jsonlite::parse_json(long[length(long)])$error, "too_large")
  expect_match(send(s$port, head, "Authorization: Bearer choose-0123456789", "Transfer-Encoding: chunked")[1], " 413 ")
  good <- send(s$port, head, "Authorization: Bearer choose-0123456789", "Content-Length: 8", body = charToRaw('{"n": 2}'))
  expect_match(good[1], " 200 ")
  expect_equal(jsonlite::fromJSON(good[length(good)])$t, 1:2)
})

test_that("tokens are changed while it runs", {
  s <- service()
  status <- function(token) sub(" .*", "", sub("^\\S+ ", "", send(s$port, "GET /experiments HTTP/1.1", "Host: x",
                                                                  paste("Authorization: Bearer", token))[1]))
  expect_equal(status("read-0123456789012"), "200")
  expect_equal(status("other-0123456789012"), "401")
  write_tokens(c(TOKENS, read = "other-0123456789012"), file.path(s$folder, "tokens"))
  expect_equal(status("other-0123456789012"), "200")
  write_tokens(c(TOKENS, read = "fresh-0123456789012"), file.path(s$folder, "tokens")) # of as many letters
  expect_equal(status("other-0123456789012"), "401")
  expect_equal(status("fresh-0123456789012"), "200")
  writeLines("read short", file.path(s$folder, "tokens")) # refused: those before it hold
  expect_equal(status("fresh-0123456789012"), "200")
  write_tokens(TOKENS, file.path(s$folder, "tokens"))
  expect_equal(status("fresh-0123456789012"), "401")
})

test_that("a port that is in use is named", {
  s <- service()
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  error <- expect_error(agent_serve(agent, s$port, TOKENS, log = NULL), class = "dpts_error_port")
  expect_match(conditionMessage(error), sprintf("`port` %d of 127.0.0.1 cannot be used: Address already", s$port), fixed = TRUE)
  expect_error(agent_serve(list(x = agent), s$port, TOKENS, log = NULL), class = "dpts_error_port")
  expect_false(is.na(agent_choose(agent)$t)) # whoever gave it has it still
  # What was opened here is closed.
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent_close(dpts_agent(batch_policy(), 2, file, use = "arrival"))
  expect_error(agent_serve(file, s$port, TOKENS, log = NULL), class = "dpts_error_port")
  expect_false(any(file.exists(paste0(file, c("-wal", "-shm")))))
  for (bad in list(0, 65536, 80.5, "80")) expect_error(agent_serve(agent, bad, TOKENS, log = NULL), "`port`", class = "dpts_error_input")
  expect_error(agent_serve(agent, s$port, TOKENS, host = 1, log = NULL), "`host`", class = "dpts_error_input")
})

test_that("a log that nobody reads does not stop the service", {
  lines <- service()$unread
  expect_gt(length(lines), 5)
  expect_lt(length(lines), 1000)
  expect_true(all(vapply(lines, jsonlite::validate, NA))) # none is cut
})

# What a program that has `client`, and does `lines`, prints
run_client <- function(command, client, lines, extension) {
  skip_if(!nzchar(Sys.which(command)), paste("no", command))
  file <- withr::local_tempfile(fileext = extension)
  writeLines(c(client, lines), file)
  out <- suppressWarnings(system2(command, c(if (command == "node") "--no-warnings", file), stdout = TRUE, stderr = TRUE))
  expect_null(attr(out, "status"), info = paste(out, collapse = "\n"))
  out
}

test_that("the client in Python chooses, reports, tries again and falls back", {
  s <- service()
  path <- dirname(system.file("clients", "dpts.py", package = "dpts"))
  out <- run_client("python3", c("import sys, json", sprintf("sys.path.insert(0, '%s')", path), "sys.dont_write_bytecode = True",
                                 "from dpts import Agent, AgentError"), sprintf('
chooser = Agent("%s", "choose-0123456789", "two words")
reporter = Agent("%1$s", "report-0123456789", "two words")
reader = Agent("%1$s", "read-0123456789012", "two words")
one = chooser.choose(offer=["green"])
two = chooser.choose(2, key="order-1")
print(one[0]["arm"], two == chooser.choose(2, key="order-1"), [x["t"] for x in two])
print(reporter.reward(one[0]["ticket"], 1)[0]["status"], [x["status"] for x in reporter.reward([None, two[0]["ticket"]], [7, 0])]) # 7 is no reward: it is left out
print(reader.get("status")["rounds"], len(reader.get("estimates", level=0.9)))
try:
    reporter.choose()
except AgentError as e:
    print(e.status, e.error)
try:
    chooser.choose(predicted=[0.5])
except AgentError as e:
    print(e.status, "predicted" in str(e)) # an experiment without predictions
morning = Agent("%1$s", "choose-0123456789", "advance").choose(5, key="monday")
back = Agent("%1$s", "report-0123456789", "advance")
day = Agent("%1$s", "admin-0123456789012", "daily")
ann = day.choose(person="Ann")[0]["ticket"]
print([day.reward(ann, r, **how)[0]["status"] for r, how in [(1, {}), (1, {}), (0, {"key": "a"}), (0, {"key": "a"})]])
print([x["status"] for x in back.give_back([x["ticket"] for x in morning[3:]])], back.reward(morning[4]["ticket"], 1)[0]["status"])
try:
    back.give_back([morning[1]["ticket"]])
except AgentError as e:
    print(e.status, "last tickets" in str(e))
away = Agent("http://127.0.0.1:9", "choose-0123456789", tries=2)
one, other = away.choose(2, default="red")
print(one, one is other) # whoever writes into one leaves the other as it is
print(Agent("%1$s", "choose-0123456789", "ended").choose(default="red")[0]["arm"])
', s$url), ".py")
  expect_equal(out, c("green True [2, 3]", "used ['used']", "3 2", "403 role", "400 True",
                      "['waiting', 'waiting', 'waiting', 'known']", "['returned', 'returned'] late", "400 True",
                      "{'ticket': None, 't': None, 'arm': 'red', 'probability': None} False", "green")) # the winner of one that has ended
})

test_that("the client in JavaScript does the same", {
  s <- service()
  path <- system.file("clients", "dpts.mjs", package = "dpts")
  skip_if(nzchar(Sys.which("node")) && as.numeric(sub("^v([0-9]+).*", "\\1", system2("node", "--version", stdout = TRUE))) < 18, "node is old")
  out <- run_client("node", sprintf('import { Agent } from "%s";', path), sprintf('
const experiment = "buttons";
const chooser = new Agent("%s", "choose-0123456789", { experiment });
const reporter = new Agent("%1$s", "report-0123456789", { experiment });
const reader = new Agent("%1$s", "read-0123456789012", { experiment });
const before = (await reader.get("status")).rounds;
const [one] = await chooser.choose({ offer: ["green"] });
const two = await chooser.choose({ n: 2, key: "order-1" });
console.log(one.arm, JSON.stringify(two) === JSON.stringify(await chooser.choose({ n: 2, key: "order-1" })), two.map(x => x.t - before).join());
console.log((await reporter.reward(one.ticket, 1))[0].status, (await reporter.reward([null, two[0].ticket], [7, 0])).map(x => x.status).join());
console.log((await reader.get("status")).rounds - before, (await reader.get("estimates", { level: 0.9 })).length);
await reporter.choose().catch(e => console.log(e.status, e.error));
await chooser.choose({ predicted: [0.5] }).catch(e => console.log(e.status, e.message.includes("predicted")));
const morning = await new Agent("%1$s", "choose-0123456789", { experiment: "advance" }).choose({ n: 5, key: "tuesday" });
const back = new Agent("%1$s", "report-0123456789", { experiment: "advance" });
const day = new Agent("%1$s", "admin-0123456789012", { experiment: "daily" }), bob = (await day.choose({ person: "Bob" }))[0].ticket, said = [];
for (const [r, how] of [[1, {}], [1, {}], [0, { key: "a" }], [0, { key: "a" }]]) said.push((await day.reward(bob, r, how))[0].status);
console.log(said.join());
console.log((await back.giveBack(morning.slice(3).map(x => x.ticket))).map(x => x.status).join(), (await back.reward(morning[4].ticket, 1))[0].status);
await back.giveBack([morning[1].ticket]).catch(e => console.log(e.status, e.message.includes("last tickets")));
const away = new Agent("http://127.0.0.1:9", "choose-0123456789", { tries: 2 });
console.log(JSON.stringify((await away.choose({ otherwise: "red" }))[0]));
console.log((await new Agent("%1$s", "choose-0123456789", { experiment: "ended" }).choose({ otherwise: "red" }))[0].arm);
', s$url), ".mjs")
  expect_equal(out, c("green true 2,3", "used used", "3 2", "403 role", "400 true", "waiting,waiting,waiting,known", "returned,returned late", "400 true", '{"ticket":null,"t":null,"arm":"red","probability":null}',
                      "green"))
})

# A service that refuses each path once, with that status
test_that("the clients ask again where the service says \"not now\", and only there", {
  skip_on_os("windows")
  path <- function(name) system.file("clients", name, package = "dpts")
  out <- list(run_client("python3", c("import sys, threading, http.server", sprintf("sys.path.insert(0, '%s')", dirname(path("dpts.py"))),
                                      "sys.dont_write_bytecode = True", "from dpts import Agent, AgentError"), '
asked = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status = int(self.path[1:])
        asked.append(status)
        self.send_response(200 if asked.count(status) > 1 else status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *said): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
agent = Agent("http://127.0.0.1:%d" % server.server_port, "token", tries=2)
for status in [400, 403, 409, 410, 429, 500, 502, 503, 504]:
    try:
        agent.get(str(status))
    except AgentError as e:
        assert e.status == status
    print(status, asked.count(status))
', ".py"))
  node <- Sys.which("node")
  if (nzchar(node) && as.numeric(sub("^v([0-9]+).*", "\\1", system2("node", "--version", stdout = TRUE))) >= 18) {
    out[[2]] <- run_client("node", c('import http from "node:http";', sprintf('import { Agent } from "%s";', path("dpts.mjs"))), '
const asked = {};
const server = http.createServer((request, answer) => {
  const status = request.url.slice(1);
  asked[status] = (asked[status] ?? 0) + 1;
  answer.writeHead(asked[status] > 1 ? 200 : Number(status)).end("{}");
});
await new Promise(done => server.listen(0, "127.0.0.1", done));
const agent = new Agent(`http://127.0.0.1:${server.address().port}`, "token", { tries: 2 });
for (const status of [400, 403, 409, 410, 429, 500, 502, 503, 504]) {
  await agent.get(status).catch(e => { if (e.status !== status) throw e; });
  console.log(status, asked[status]);
}
process.exit();
', ".mjs")
  }
  for (said in out) expect_identical(said, paste(c(400, 403, 409, 410, 429, 500, 502, 503, 504), c(1, 1, 1, 1, 2, 1, 2, 2, 2)))
})

test_that("a call whose answer is lost is sent again as it was, and a choice with an arm to fall back on always has an answer", {
  skip_on_os("windows")
  path <- function(name) system.file("clients", name, package = "dpts")
  # A service that does with each request what is next: no answer, half of one, one that is no JSON, or a status
  out <- list(run_client("python3", c("import sys, threading, http.server, json", sprintf("sys.path.insert(0, '%s')", dirname(path("dpts.py"))),
                                      "sys.dont_write_bytecode = True", "from dpts import Agent, AgentError"), '
fates, asked = [], []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        fate = fates.pop(0)
        self.close_connection = True
        if fate == "lost": return
        self.send_response(fate if isinstance(fate, int) else 200)
        self.send_header("Content-Length", "9" if fate == "half" else "2")
        self.end_headers()
        self.wfile.write(b"[}" if fate == "nonsense" else b"[]" if fate == 200 else b"{}")
    def log_message(self, *said): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
agent = Agent("http://127.0.0.1:%d/" % server.server_port, "token", experiment="a/b c?")
def said(*fate):
    global keys
    one = asked[0]
    whole = len(asked) == len(fate) and all(x == one for x in asked)
    keys.append(one[1].pop("key"))
    print(whole, one[0], json.dumps(one[1], sort_keys=True))
    asked.clear()
keys = []
for fate in [("lost", "half", 200), ("nonsense", 200)]:
    fates[:] = fate; agent.choose(2, person="Ann"); said(*fate)
    fates[:] = fate; agent.reward(["s", None, "t"], [1, 7, 0], outcome="harm"); said(*fate)
fates[:] = ["half", 200]; agent.reward((None, "u"), (7, 1), key="mine"); said("half", 200)
fates[:] = ["lost", 200]; agent.choose(key="own"); said("lost", 200)
print(len(set(keys)), keys[-2:])
print(agent.reward([None], [1]), len(asked))
for lists in ((["s", "t"], [1]), (["s"], [1, 0])):
    try: agent.reward(*lists)
    except ValueError as e: print(e)
agent.tries = 1
for fate in [400, 401, 403, 404, 409, 410, 413, 429, 500, 502, 503, 504, "lost", "half", "nonsense"]:
    fates[:] = [fate]
    try: print(fate, [x["arm"] for x in agent.choose(2, default="d")])
    except AgentError as e: print(fate, e.status)
', ".py"))
  node <- Sys.which("node")
  if (nzchar(node) && as.numeric(sub("^v([0-9]+).*", "\\1", system2("node", "--version", stdout = TRUE))) >= 18) {
    out[[2]] <- run_client("node", c('import http from "node:http";', sprintf('import { Agent } from "%s";', path("dpts.mjs"))), '
const fates = [], asked = [], keys = [];
const server = http.createServer((request, answer) => {
  let body = "";
  request.on("data", part => body += part).on("end", () => {
    asked.push([request.url, JSON.parse(body)]);
    const fate = fates.shift();
    if (fate === "lost") return request.socket.destroy();
    answer.writeHead(typeof fate === "number" ? fate : 200, { "Content-Length": fate === "half" ? 9 : 2 });
    answer.write(fate === "nonsense" ? "[}" : fate === 200 ? "[]" : "{}");
    if (fate === "half") setTimeout(() => request.socket.destroy(), 20); else answer.end();
  });
});
await new Promise(done => server.listen(0, "127.0.0.1", done));
const agent = new Agent(`http://127.0.0.1:${server.address().port}/`, "token", { experiment: "a/b c?" });
const python = x => x === null ? "None" : Array.isArray(x) ? "[" + x.map(python).join(", ") + "]" : JSON.stringify(x);
function said(fate) {
  const [path, body] = asked[0], same = asked.every(x => JSON.stringify(x) === JSON.stringify(asked[0]));
  keys.push(body.key); delete body.key;
  const text = Object.keys(body).sort().map(name => JSON.stringify(name) + ": " + python(body[name])).join(", ");
  console.log(same && asked.length === fate.length ? "True" : "False", path, "{" + text + "}");
  asked.length = 0;
}
const go = async (fate, call) => { fates.splice(0, 9, ...fate); await call(); said(fate); };
for (const fate of [["lost", "half", 200], ["nonsense", 200]]) {
  await go(fate, () => agent.choose({ n: 2, person: "Ann" }));
  await go(fate, () => agent.reward(["s", null, "t"], [1, 7, 0], { outcome: "harm" }));
}
await go(["half", 200], () => agent.reward([null, "u"], [7, 1], { key: "mine" }));
await go(["lost", 200], () => agent.choose({ key: "own" }));
console.log(new Set(keys).size, python(keys.slice(-2)).replaceAll(\'"\', "\'"));
console.log(python(await agent.reward([null], [1])), asked.length);
for (const lists of [[["s", "t"], [1]], [["s"], [1, 0]]]) await agent.reward(...lists).catch(e => console.log(e.message));
agent.tries = 1;
for (const fate of [400, 401, 403, 404, 409, 410, 413, 429, 500, 502, 503, 504, "lost", "half", "nonsense"]) {
  fates.splice(0, 9, fate);
  await agent.choose({ n: 2, otherwise: "d" }).then(x => console.log(fate, python(x.map(y => y.arm)).replaceAll(\'"\', "\'")), e => console.log(fate, e.status));
}
process.exit();
', ".mjs")
  }
  path <- "True /experiments/a%2Fb%20c%3F"
  choose <- paste0(path, '/choose {"n": ', c(2, 1), c(', "person": "Ann"}', "}"))
  report <- paste0(path, "/reward {", c('"outcome": "harm", "reward": [1, 0], "ticket": ["s", "t"]}', '"reward": [1], "ticket": ["u"]}'))
  refused <- c(400, 401, 403, 404, 409, 413)
  for (said in out) {
    expect_identical(said, c(rep(c(choose[1], report[1]), 2), report[2], choose[2], "6 ['mine', 'own']", "[] 0",
                             "2 tickets have 1 rewards", "1 tickets have 2 rewards",
                             paste(refused[1:5], refused[1:5]), "410 ['d', 'd']", "413 413",
                             paste(c(429, 500, 502, 503, 504, "lost", "half", "nonsense"), "['d', 'd']")))
  }
})

test_that("whoever sends half a request, nothing, two at once or none of HTTP, stops no other and gets no choice unanswered", {
  s <- service()
  skip_if(system("ulimit -n", intern = TRUE) %in% as.character(1:1023), "few open files are allowed")
  out <- run_client("python3", "import socket, json, re, time", sprintf('
def connect():
    c = socket.create_connection(("127.0.0.1", %d)); c.settimeout(20); return c
def request(body=b"", method="POST", path="/experiments/buttons/choose", token="choose-0123456789", length=None, more=""):
    return (f"{method} {path} HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer {token}\\r\\n{more}Content-Length: {len(body) if length is None else length}\\r\\n\\r\\n").encode() + body
def answers(c, n):
    got = b""; out = []
    while len(out) < n:
        m = re.match(rb"HTTP/1.1 (\\d+).*?Content-Length: (\\d+)\\r\\n.*?\\r\\n\\r\\n", got, re.S)
        if m and len(got) >= m.end() + int(m[2]):
            out.append((int(m[1]), json.loads(got[m.end():m.end() + int(m[2])]))); got = got[m.end() + int(m[2]):]
            continue
        more = c.recv(65536)
        if not more: break
        got += more
    return out
def rounds():
    c = connect(); c.sendall(request(b"", "GET", "/experiments/buttons/status", "admin-0123456789012")); return answers(c, 1)[0][1]["rounds"]
def ask():
    began = time.time(); c = connect(); c.sendall(request()); a = answers(c, 1)[0]
    return a[0], time.time() - began < 5
before = rounds()
halves = [connect() for i in range(200)]
for c in halves: c.sendall(request(b"{", length=9))
print(ask(), rounds() - before)
idle = [connect() for i in range(1000)]
print(ask(), rounds() - before)
halves[150].sendall(b\'"n": 2}   \'[:8]); print([len(a[1]) for a in answers(halves[150], 1)], rounds() - before)
two = connect(); two.sendall(request() + request(b\'{"n": 2}\'))
print([[row["t"] - before for row in a[1]] for a in answers(two, 2)])
two.sendall(request() * 50); print([a[0] for a in answers(two, 50)] == [200] * 50, rounds() - before)
gone = connect(); gone.sendall(request() + request()); gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\\1\\0\\0\\0\\0\\0\\0\\0"); gone.close() # hung up before its second choice
time.sleep(0.5); left = rounds() - before; print(left in (57, 58, 59)); before += left
for head in (request(more="Upgrade: websocket\\r\\nConnection: Upgrade\\r\\n", method="GET", path="/"), request(more="A : b\\r\\n"), request(more="Content-Length: 0\\r\\n"), request(more="Authorization: Bearer admin-0123456789012\\r\\n"), request(more="A: b\\n"), request(length="-1"),
             request(path="choose"), b"x" * 20000, b"\\0\\r\\n\\r\\n", request(more=" folded\\r\\n")):
    c = connect(); c.sendall(head); print([a[0] for a in answers(c, 2)], end=" ") # and hangs up
print(rounds() - before)
wait = connect(); wait.sendall(request(length=8, more="Expect: 100-continue\\r\\n")); print(wait.recv(100)); wait.sendall(b\'{"n": 2}\'); print(len(answers(wait, 1)[0][1]))
wait.sendall(request(length=8)); time.sleep(0.3); wait.sendall(b\'{"n": 1}\'); print(wait.recv(12)) # which asks for no 100
head = connect(); head.sendall(request(method="HEAD", path="/health")); print(head.recv(1000).endswith(b"\\r\\n\\r\\n"))
', s$port), ".py")
  expect_equal(out, c("(200, True) 1", "(200, True) 2", "[2] 4", "[[5], [6, 7]]", "True 57", "True",
                      "[400] [400] [400] [400] [400] [413] [400] [400] [400] [400] 0", "b'HTTP/1.1 100 Continue\\r\\n\\r\\n'", "2", "b'HTTP/1.1 200'",
                      "True"))
})

test_that("clients are answered in turn, whoever has sent how much", {
  skip_on_os("windows")
  port <- free_port()
  server <- .Call(dpts:::C_serve_open, "127.0.0.1", port, 20, 1e6)
  withr::defer(.Call(dpts:::C_serve_close, server))
  clients <- lapply(1:3, function(i) socketConnection("127.0.0.1", port, open = "r+b"))
  withr::defer(lapply(clients, close))
  ask <- function(i, n) writeBin(charToRaw(strrep(sprintf("GET /%d HTTP/1.1\r\n\r\n", i), n)), clients[[i]])
  for (i in 1:3) ask(i, c(3, 1, 2)[i])
  expect_null(.Call(dpts:::C_serve_next, server, 1000L)) # they are let in, and heard from now on
  asked <- vapply(1:6, function(i) {
    got <- .Call(dpts:::C_serve_next, server, 1000L)
    .Call(dpts:::C_serve_answer, server, got$id, "HTTP/1.1 200 OK\r\n", "")
    got$PATH_INFO
  }, "")
  expect_identical(asked, paste0("/", c(1, 2, 3, 1, 3, 1)))
  # An answer to HEAD has no body, and the next one has, also to what is no request.
  readBin(clients[[2]], "raw", 1e4)
  writeBin(charToRaw("HEAD /2 HTTP/1.1\r\n\r\nnone\r\n\r\n"), clients[[2]])
  sound <- vapply(1:2, function(i) {
    for (try in 1:9) if (!is.null(got <- .Call(dpts:::C_serve_next, server, 300L))) break
    .Call(dpts:::C_serve_answer, server, got$id, "HTTP/1.1 200 OK\r\n", "ok")
    !is.null(got$PATH_INFO)
  }, NA)
  expect_identical(sound, c(TRUE, FALSE))
  expect_match(rawToChar(readBin(clients[[2]], "raw", 1e4)), "^HTTP[^\n]+\n([A-Z][^\n]+\n)+\r\nHTTP[^\n]+\n([A-Z][^\n]+\n)+\r\nok$")
})

test_that("a body that was not let in is not read, so that nobody is hung up on for its room, nor whose turn has come", {
  skip_on_os("windows")
  port <- free_port()
  server <- .Call(dpts:::C_serve_open, "127.0.0.1", port, 20, 4e4)
  withr::defer(.Call(dpts:::C_serve_close, server))
  call <- function(text, env = parent.frame()) {
    client <- socketConnection("127.0.0.1", port, open = "r+b")
    withr::defer(close(client), env)
    writeBin(charToRaw(text), client)
    client
  }
  hear <- function(path) {
    for (i in 1:9) if (!is.null(got <- .Call(dpts:::C_serve_next, server, 300L))) break
    expect_identical(got$PATH_INFO, path)
    got$id
  }
  post <- function(size) sprintf("POST /long HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", size, strrep("x", size))
  half <- call("GET /half HTTP/1.1\r\n")
  for (i in 1:2) expect_null(.Call(dpts:::C_serve_next, server, 300L))
  long <- call(post(60000))
  hear("/long")
  writeBin(charToRaw("\r\n"), half)
  asked <- hear("/half")
  # A body that comes needs more room than there is, and who was asked for an answer still gets it.
  let_in <- call(post(30000))
  .Call(dpts:::C_serve_let_in, server, hear("/long"))
  hear("/long")
  .Call(dpts:::C_serve_answer, server, asked, "HTTP/1.1 200 OK\r\n", "own")
  expect_match(rawToChar(readBin(half, "raw", 1000)), "\r\n\r\nown$")
})

test_that("an answer to whom has hung up goes to nobody, also when another one has come to the place", {
  skip_on_os("windows")
  port <- free_port()
  server <- .Call(dpts:::C_serve_open, "127.0.0.1", port, 20, 1e6)
  withr::defer(.Call(dpts:::C_serve_close, server))
  call <- function() socketConnection("127.0.0.1", port, open = "r+b")
  ask <- function(client, path) writeBin(charToRaw(sprintf("GET %s HTTP/1.1\r\n\r\n", path)), client)
  hear <- function(path) {
    for (i in 1:20) if (!is.null(got <- .Call(dpts:::C_serve_next, server, 1000L))) break
    expect_identical(got$PATH_INFO, path)
    got
  }
  answer <- function(got, body) .Call(dpts:::C_serve_answer, server, got$id, "HTTP/1.1 200 OK\r\n", body)
  gone <- call()
  ask(gone, "/before")
  answer(hear("/before"), "before")
  ask(gone, "/gone")
  first <- hear("/gone")
  close(gone) # with an answer unread, so that the system says at once that nobody is there
  expect_null(.Call(dpts:::C_serve_next, server, 100L))
  come <- call()
  withr::defer(close(come))
  ask(come, "/come")
  second <- hear("/come")
  expect_identical(second$id %% 4096L, first$id %% 4096L) # in its place
  answer(first, "of another")
  answer(second, "own")
  expect_match(rawToChar(readBin(come, "raw", 1000)), "\r\n\r\nown$")
})

test_that("who sends a byte now and then, or without end, or takes no answer, is hung up on; all that is held has one limit", {
  skip_on_os("windows")
  skip_if(!nzchar(Sys.which("python3")), "no python3")
  port <- free_port()
  server <- .Call(dpts:::C_serve_open, "127.0.0.1", port, 3, 4e6) # 3 seconds, which a loaded machine needs for the first 30 bodies; 4 MB
  withr::defer(.Call(dpts:::C_serve_close, server))
  # A port that is taken gives the reason as text, and that is no server.
  expect_error(.Call(dpts:::C_serve_next, .Call(dpts:::C_serve_open, "127.0.0.1", port, 3, 4e6), 20L), "never open")
  script <- withr::local_tempfile(fileext = ".py")
  writeLines(sprintf('
import socket, time
def connect(text=b""):
    c = socket.create_connection(("127.0.0.1", %d)); c.settimeout(10); c.sendall(text); return c
def there(c):
    c.settimeout(0)
    try: return c.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError: return True
    except OSError: return False
def ask(path=b"/"):
    c = connect(b"GET " + path + b" HTTP/1.0\\r\\n\\r\\n"); out = b""
    while True:
        more = c.recv(65536)
        if not more: return out
        out += more
def taken(c):
    n = 0
    try:
        while more := c.recv(1000000): n += len(more)
    except OSError: pass
    return n
half = [connect(b"POST / HTTP/1.1\\r\\nContent-Length: 900000\\r\\n\\r\\n" + b"x" * 300000) for i in range(30)]
ok = ask().endswith(b"ok") # perhaps before all of theirs was read
for i in range(100):
    left = sum(map(there, half))
    if left <= 13: break # 13 of 300 KB are 4 MB
    time.sleep(0.05)
print(ok, 0 < left, left <= 13, there(half[29]), there(half[0])) # who waited longest goes first
big = [connect(b"GET /big HTTP/1.1\\r\\n\\r\\n") for i in range(5)]
print(len(ask(b"/big")) > 1500000)
idle = connect() # holds nothing, so that hanging up on it would win nothing
print(taken(connect(b"GET /huge HTTP/1.0\\r\\n\\r\\n")) > 3e7) # more than all may hold, but there is nobody to hang up on for it
idle.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n"); print(idle.recv(1000).endswith(b"ok"))
huge = [connect(b"GET /huge HTTP/1.0\\r\\n\\r\\n") for i in range(3)]
for c in huge: c.recv(1, socket.MSG_PEEK) # has an answer, most of which the server still holds
print(ask().endswith(b"ok")) # whose request takes their room
print(sum(taken(c) > 3e7 for c in huge)) # for answers, too, there is room of 4 MB
drip = connect(b"POST / HTTP/1.1\\r\\n")
drop = connect(b"POST / HTTP/1.1\\r\\nContent-Length: 900000\\r\\n\\r\\n")
flood = connect(b"POST / HTTP/1.1\\r\\nContent-Length: 999999999\\r\\n\\r\\n"); flood.setblocking(False)
lost = {}; began = time.time()
while time.time() < began + 15 and len(lost) < 3:
    for name, c, text in (("drip", drip, b"A"), ("drop", drop, b"x"), ("flood", flood, b"x" * 100)):
        try: name in lost or c.send(text)
        except BlockingIOError: pass
        except OSError: lost[name] = time.time() - began
    time.sleep(0.05)
print(sorted(lost), all(0.9 < x < 12 for x in lost.values()))
shut = connect(b"GET / HTTP/1.1\\r\\n\\r\\n" * 2); shut.shutdown(socket.SHUT_WR); time.sleep(0.3); print(shut.recv(1000).count(b"ok"))
ask(b"/end?a=b?c")
', port), script)
  out <- withr::local_tempfile()
  system2("python3", script, stdout = out, stderr = out, wait = FALSE)
  big <- strrep("x", 1.5e6)
  huge <- strrep("x", 3e7)
  ended <- Sys.time() + 30
  path <- ""
  while (path != "/end" && Sys.time() < ended) {
    got <- .Call(dpts:::C_serve_next, server, 20L)
    if (is.null(got)) next
    path <- got$PATH_INFO
    short <- is.finite(got$HTTP_CONTENT_LENGTH) && got$HTTP_CONTENT_LENGTH < 1e6
    if (!got$whole && short) .Call(dpts:::C_serve_let_in, server, got$id) else {
      .Call(dpts:::C_serve_answer, server, got$id, "HTTP/1.1 200 OK\r\n",
            switch(path, "/big" = big, "/huge" = huge, "ok"))
    }
  }
  expect_identical(got$QUERY_STRING, "a=b?c") # all after the first question mark
  .Call(dpts:::C_serve_next, server, 100L)
  while (length(readLines(out)) < 8 && Sys.time() < ended) Sys.sleep(0.05) # it writes as it exits
  expect_equal(readLines(out), c("True True True True False", "True", "True", "True", "True", "0", "['drip', 'drop', 'flood'] True", "2"))
})

# The last test of this file: it ends the service
test_that("SIGTERM: what has come is answered, the stores are closed, and all is well", {
  s <- service()
  s$log() # room for the last line
  s$process$signal(tools::SIGTERM)
  s$process$wait(60000)
  expect_equal(s$process$get_exit_status(), 0)
  expect_equal(s$process$get_result(), "returned")
  log <- s$log()
  expect_equal(log[[length(log)]]$event, "end")
  # A store that was closed has no write-ahead log.
  expect_length(list.files(s$folder, "wal$|shm$"), 0)
})

test_that("for a moment after SIGTERM it refuses what comes, for five seconds at most, then closes its agents and returns them", {
  skip_on_os("windows")
  for (package in c("jsonlite", "RSQLite")) skip_if_not_installed(package)
  for (busy in c(FALSE, TRUE)) {
    agent <- dpts_agent(batch_policy(), 2, use = "arrival")
    said <- list()
    now <- 100
    local_function("seconds_now", function(old) function() now)
    local_function("serve_one", function(old) function(service, server, milliseconds) {
      now <<- now + 1 / 16
      if (busy) service$last <- now
      said[[length(said) + 1]] <<- c(milliseconds, service$ending, agent$closed)
      if (length(said) == 2) tools::pskill(Sys.getpid(), tools::SIGTERM)
    })
    log <- textConnection("lines", "w", local = TRUE)
    port <- free_port()
    out <- withVisible(agent_serve(agent, port, TOKEN, log = log))
    close(log)
    expect_identical(out, list(value = agent, visible = FALSE))
    expect_identical(said, c(rep(list(c(200L, 0L, 0L)), 2), rep(list(c(50L, 1L, 0L)), if (busy) 80 else 5)))
    expect_true(agent$closed)
    lines <- lapply(lines, jsonlite::parse_json)
    expect_identical(lines[[1]][-1], list(event = "start", address = sprintf("http://127.0.0.1:%d", port),
                                          version = package_version_text(), experiments = 1L))
    expect_identical(lines[[2]][-1], list(event = "end"))
    close(serverSocket(port)) # nobody listens any more
  }
})

test_that("others are answered between the parts of an answer that takes long, which goes to nobody else", {
  skip_on_os("windows")
  for (package in c("curl", "jsonlite", "RSQLite")) skip_if_not_installed(package)
  done <- character()
  again <- 0
  local_function("overview_parts", function(parts) function(agent, given) {
    c(lapply(1:3, function(i) function() done <<- c(done, paste("part", i))), function() stop("of no account"), function() {
      again <<- again + 1
      again < 4 # TRUE: there is more to do
    }, parts(agent, given))
  })
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  agent_choose(agent, 30)
  service <- dpts:::new_service(agent, TOKENS$admin, Inf, NULL)
  port <- free_port()
  server <- .Call(dpts:::C_serve_open, "127.0.0.1", port, 20, 1e8)
  withr::defer(.Call(dpts:::C_serve_close, server))
  pool <- curl::new_pool()
  ask <- function(path, name, post = FALSE) {
    handle <- curl::new_handle(httpheader = paste("Authorization: Bearer", TOKENS$admin), post = post)
    if (post) curl::handle_setopt(handle, postfields = "")
    curl::curl_fetch_multi(sprintf("http://127.0.0.1:%d%s", port, path), pool = pool, handle = handle,
                           done = function(x) done <<- c(done, paste(name, x$status_code, nchar(rawToChar(x$content)) > 500)),
                           fail = function(message) done <<- c(done, message))
    handle
  }
  until <- function(ready) for (i in 1:2000) {
    if (ready()) break
    curl::multi_run(timeout = 0, poll = TRUE, pool = pool)
    dpts:::serve_one(service, server, 2L)
  }
  ask("/overview", "overview")
  until(function() length(done) > 0)
  ask("/choose", "choose", post = TRUE)
  until(function() "overview 200 TRUE" %in% done && "choose 200 FALSE" %in% done)
  expect_identical(done[1:2], c("part 1", "part 2"))
  expect_equal(again, 4)
  expect_lt(match("choose 200 FALSE", done), match("overview 200 TRUE", done))
  expect_equal(sum(pulls(agent)$pulls), 31)
  # Who hangs up meanwhile leaves the place to others, who get their own answers.
  agent$cache <- NULL
  done <- character()
  gone <- ask("/overview", "overview")
  until(function() length(done) > 0)
  curl::multi_cancel(gone)
  rm(gone)
  gc()
  ask("/health", "health")
  until(function() "health 200 FALSE" %in% done && !length(service$waiting))
  expect_identical(grep("200", done, value = TRUE), "health 200 FALSE")
  # Numbers of many agents are read one by one, and once in 20 times what that took.
  agents <- lapply(1:3, function(i) dpts_agent(batch_policy(), 2, use = "arrival"))
  names(agents) <- c("a", "b", "c")
  service <- dpts:::new_service(agents, TOKENS$admin, Inf, NULL)
  parts <- dpts:::metrics_parts(service)
  expect_length(parts, 6) # each is opened, if it is not, and counted
  for (part in parts) part()
  service$spent <- 60
  local_function("experiment_numbers", function(f) function(...) stop("not again"))
  expect_identical(dpts:::agent_numbers(service)$experiment, c("a", "b", "c"))
  for (part in dpts:::metrics_parts(service)[c(2, 4, 6)]) expect_error(part(), "not again")
})

test_that("an agent is opened in parts, once, between which others are answered, and a damaged one is told of", {
  for (package in c("curl", "jsonlite", "RSQLite")) skip_if_not_installed(package)
  skip_on_os("windows")
  local_function("COUNTED_AT_ONCE", function(most) 20)
  folder <- withr::local_tempdir()
  file <- function(name) file.path(folder, paste0(name, ".sqlite"))
  for (name in c("open", "large", "bad")) {
    agent <- dpts_agent(batch_policy(), 2, file(name), use = "arrival")
    agent_reward(agent, agent_choose(agent, 90)$ticket[1:40], 1)
    agent_close(agent)
  }
  con <- DBI::dbConnect(RSQLite::SQLite(), file("bad"))
  DBI::dbExecute(con, "UPDATE dpts_ticket SET arm = 3 - arm WHERE id = 85") # in the last piece
  DBI::dbDisconnect(con)
  expect_error(agent_open(file("bad")), class = "dpts_error_store_damaged")
  service <- dpts:::new_service(folder, TOKENS$admin, Inf, NULL)
  service$agents$find("open")
  done <- list()
  local_function("serve_answer", function(old) function(service, server, req, work) {
    done[[length(done) + 1]] <<- c(req$PATH_INFO, work(service, req)$status)
  })
  queue <- list()
  ask <- function(path, method = "GET") {
    queue[[length(queue) + 1]] <<- list(whole = TRUE, PATH_INFO = path, REQUEST_METHOD = method, bodyRaw = raw(),
                                        HTTP_AUTHORIZATION = paste("Bearer", TOKENS$admin))
  }
  local_function("next_request", function(old) function(...) {
    got <- c(queue, list(NULL))[[1]]
    queue <<- queue[-1]
    got
  })
  turn <- function() dpts:::serve_one(service, NULL, 0L)
  opened <- 0
  local_function("begin_opening", function(old) function(...) {
    opened <<- opened + 1
    old(...)
  })
  ask("/experiments/large/verdict")
  turn()
  ask("/experiments/open/choose", "POST")
  ask("/experiments/large/choose", "POST")
  for (i in 1:4) turn()
  expect_identical(done, list(c("/experiments/open/choose", "200"))) # the other one is not open yet
  parts <- integer()
  for (i in 1:40) {
    if (length(service$waiting) == 1) parts <- c(parts, length(service$waiting[[1]]$parts))
    turn()
  }
  expect_equal(rle(parts)$values, c(2, 1, 3, 2, 1, 0)) # of opening it, and then of the verdict
  # The choice, which has no parts else, was first.
  expect_identical(done[-1], list(c("/experiments/large/choose", "200"), c("/experiments/large/verdict", "200")))
  expect_equal(opened, 1)
  expect_equal(sum(pulls(service$agents$find("large"))$pulls), 91)
  ask("/experiments/bad/choose", "POST")
  for (i in 1:20) turn()
  expect_identical(done[[4]], c("/experiments/bad/choose", "503"))
  expect_false(service$agents$is_open("bad"))
  # One that is left in the middle is closed with the service.
  ask("/experiments/bad/status")
  for (i in 1:3) turn()
  service$agents$close(all = TRUE)
  expect_length(list.files(folder, "wal$|shm$"), 0)
})

test_that("who connects while parts are to be done waits for none of them", {
  skip_on_os("windows")
  port <- free_port()
  server <- .Call(dpts:::C_serve_open, "127.0.0.1", port, 20, 1e6)
  withr::defer(.Call(dpts:::C_serve_close, server))
  client <- socketConnection("127.0.0.1", port, open = "r+b")
  withr::defer(close(client))
  writeBin(charToRaw("GET /asked HTTP/1.1\r\n\r\n"), client)
  # One look lets the client in, and the next one hears it: both come before the part.
  got <- dpts:::next_request(list(waiting = list("a part")), server, 0L)
  expect_identical(got$PATH_INFO, "/asked")
  expect_lt(system.time(dpts:::next_request(list(waiting = list("a part")), server, 9000L))[["elapsed"]], 5) # nor does a part wait for them
  # A mistake of the service is an answer, too, and ends nothing.
  for (package in c("jsonlite", "RSQLite")) skip_if_not_installed(package)
  service <- dpts:::new_service(dpts_agent(batch_policy(), 2, use = "arrival"), TOKEN, Inf, NULL)
  dpts:::serve_answer(service, server, list2env(got), function(...) stop("a mistake"))
  .Call(dpts:::C_serve_next, server, 100L) # which sends
  expect_identical(readLines(client, 1), "HTTP/1.1 500 Error")
})
