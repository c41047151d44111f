// The link to the server: every request has an id, and its answer settles a promise.
export class Link {
  constructor(onState) {
    this.onState = onState;
    this.next = 1;
    this.waiting = new Map();
    this.queue = [];
    this.delay = 250;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this.socket.onopen = () => {
      this.delay = 250;
      this.onState(true);
      for (const text of this.queue.splice(0)) this.socket.send(text);
    };
    this.socket.onmessage = (event) => {
      const answer = JSON.parse(event.data);
      const settle = this.waiting.get(answer.id);
      if (settle) { this.waiting.delete(answer.id); settle(answer); }
    };
    this.socket.onclose = () => {
      for (const settle of this.waiting.values()) settle({ type: "skipped" });
      this.waiting.clear();
      this.queue.length = 0;
      this.onState(false);
      setTimeout(() => this.open(), this.delay);
      this.delay = Math.min(4000, 2 * this.delay);
    };
  }

  // Ask for what does not depend on this connection, again and again until it is answered.
  async insist(message) {
    for (;;) {
      const answer = await this.ask(message);
      if (answer.type !== "skipped") return answer;
    }
  }

  ask(message) {
    const id = this.next++;
    const text = JSON.stringify({ id, ...message });
    return new Promise((settle) => {
      this.waiting.set(id, settle);
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
      else this.queue.push(text);
    });
  }
}
