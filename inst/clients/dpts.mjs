// A client of the service of the R package dpts: choose arms, report rewards. For servers (Node 18 or later, Deno, Bun):
// whoever has the token may choose, so do not send it to browsers.
//
//   const agent = new Agent("https://bandit.example.org", token, { experiment: "buttons" });
//   const [choice] = await agent.choose({ otherwise: "green" });
//   show(choice.arm);
//   await agent.reward(choice.ticket, 1);

// What the service said: `status` (0: nothing), `error`, the message, and `arm`, the winner of what has ended.
export class AgentError extends Error {
  constructor(status, error, message, arm) {
    super(message);
    Object.assign(this, { status, error, arm });
  }
}

export class Agent {
  // tries: how often a request is sent, if the service does not answer or says "not now"
  constructor(url, token, { experiment = null, timeout = 5000, tries = 3 } = {}) {
    this.base = url.replace(/\/+$/, "") + (experiment === null ? "" : "/experiments/" + encodeURIComponent(experiment));
    Object.assign(this, { token, timeout, tries });
  }

  // A list of {ticket, t, arm, probability}. options: offer, context, person, key, predicted, stratum. A choice that is sent
  // again has the same key, and so is made once. With `otherwise`, an arm, there is always an answer: if there is no service,
  // that arm without a ticket; if the experiment has ended, its winner.
  async choose({ n = 1, otherwise = null, ...options } = {}) {
    try {
      return await this.#ask("/choose", { n, key: crypto.randomUUID(), ...options });
    } catch (e) {
      if (otherwise === null || ![0, 410, 429, 500, 502, 503, 504].includes(e.status)) throw e;
      return Array.from({ length: n }, () => ({ ticket: null, t: null, arm: e.arm ?? otherwise, probability: null }));
    }
  }

  // The last tickets of a call of choose({ n, key }), which nobody used: ?agent_return.
  async giveBack(ticket) {
    return this.#ask("/return", { ticket });
  }

  // One ticket and its reward, or lists. To send a report twice does no harm. Choices without ticket are left out.
  // options: outcome, which of the experiment's other outcomes is reported; key. A report that is sent again has the same
  // key, and so counts once where several rewards of a ticket are averaged (a `window`).
  async reward(ticket, reward, options = {}) {
    const tickets = [ticket].flat(), rewards = [reward].flat();
    if (tickets.length !== rewards.length) throw new RangeError(`${tickets.length} tickets have ${rewards.length} rewards`);
    const known = tickets.map((t, i) => [t, rewards[i]]).filter(pair => pair[0] !== null);
    if (!known.length) return [];
    const sent = { ticket: known.map(p => p[0]), reward: known.map(p => p[1]), key: crypto.randomUUID() };
    return this.#ask("/reward", { ...sent, ...options });
  }

  // status, estimates, privacy, verdict, effects, evidence, releases, statement
  get(what, query = {}) {
    const text = new URLSearchParams(query).toString();
    return this.#ask("/" + what + (text ? "?" + text : ""));
  }

  async #ask(path, body) {
    let error;
    for (let i = 1; i <= this.tries; i++) {
      try {
        const answer = await fetch(this.base + path, {
          method: body ? "POST" : "GET", body: body && JSON.stringify(body), signal: AbortSignal.timeout(this.timeout),
          headers: { Authorization: "Bearer " + this.token, "Content-Type": "application/json" },
        });
        if (answer.ok) return await answer.json();
        const said = await answer.json().catch(() => ({}));
        error = new AgentError(answer.status, said.error, said.message ?? answer.statusText, said.arm);
      } catch (e) {
        error = new AgentError(0, "unreachable", String(e));
      }
      if (![0, 429, 502, 503, 504].includes(error.status)) break;
      if (i < this.tries) await new Promise(done => setTimeout(done, 100 * 2 ** i));
    }
    throw error;
  }
}
