"""A client of the service of the R package dpts: choose arms, report rewards. Standard library alone.

    agent = Agent("https://bandit.example.org", token, experiment="buttons")
    choice = agent.choose(default="green")[0]
    show(choice["arm"])
    agent.reward(choice["ticket"], 1)
"""
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class AgentError(Exception):
    """What the service said: `status` (0: nothing), `error`, the message, and `arm`, the winner of what has ended."""

    def __init__(self, status, error, message, arm=None):
        super().__init__(message)
        self.status, self.error, self.arm = status, error, arm


class Agent:
    """An experiment. `tries`: how often a request is sent, if the service does not answer or says "not now"."""

    def __init__(self, url, token, experiment=None, timeout=5, tries=3):
        self.base = url.rstrip("/")
        if experiment is not None:
            self.base += "/experiments/" + urllib.parse.quote(experiment, safe="")
        self.token, self.timeout, self.tries = token, timeout, tries

    def choose(self, n=1, default=None, **options):
        """A list of dicts: ticket, t, arm, probability. `options`: offer, context, person, key, predicted,
        stratum.

        A choice that is sent again has the same key, and so is made once. With `default`, an arm, there is always an
        answer: if there is no service, that arm without a ticket; if the experiment has ended, its winner.
        """
        try:
            return self._ask("/choose", {"n": n, "key": str(uuid.uuid4()), **options})
        except AgentError as e:
            if default is None or e.status not in (0, 410, 429, 500, 502, 503, 504):
                raise
            return [{"ticket": None, "t": None, "arm": e.arm or default, "probability": None} for _ in range(n)]

    def give_back(self, ticket):
        """The last tickets of a call of choose(n, key=...), which nobody used: ?agent_return."""
        return self._ask("/return", {"ticket": ticket})

    def reward(self, ticket, reward, **options):
        """One ticket and its reward, or lists. To send a report twice does no harm. Choices without ticket are left out.

        `options`: outcome, which of the experiment's other outcomes is reported; key. A report that is sent again has
        the same key, and so counts once where several rewards of a ticket are averaged (a `window`).
        """
        if not isinstance(ticket, (list, tuple)):
            ticket, reward = [ticket], [reward]
        if len(ticket) != len(reward):
            raise ValueError("%d tickets have %d rewards" % (len(ticket), len(reward)))
        pairs = [(t, r) for t, r in zip(ticket, reward) if t is not None]
        if not pairs:
            return []
        sent = {"ticket": [t for t, _ in pairs], "reward": [r for _, r in pairs], "key": str(uuid.uuid4())}
        return self._ask("/reward", {**sent, **options})

    def get(self, what, **query):
        """status, estimates, privacy, verdict, effects, evidence, releases, statement"""
        return self._ask("/" + what + ("?" + urllib.parse.urlencode(query) if query else ""))

    def _ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        for left in reversed(range(self.tries)):
            try:
                request = urllib.request.Request(self.base + path, data, headers)
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as e:
                try:
                    said = json.load(e)
                except (OSError, ValueError, http.client.HTTPException):
                    said = {}
                error = AgentError(e.code, said.get("error"), said.get("message", str(e)), said.get("arm"))
                if e.code not in (429, 502, 503, 504):
                    raise error from None
            except (OSError, ValueError, http.client.HTTPException) as e:
                error = AgentError(0, "unreachable", str(e))
            if left:
                time.sleep(0.1 * 2 ** (self.tries - left))
        raise error
