/* Search in pages opened from the disk. A browser starts no worker from a file:// page, but loads scripts into a frame:
   this Worker is a hidden frame, whose window stands for the worker's scope. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const scope = frame.contentWindow;
      const load = (source) => new Promise((done) => {
        const script = scope.document.createElement("script");
        script.src = source;
        script.onload = done;
        scope.document.head.append(script);
      });
      scope.importScripts = async (...sources) => { for (const source of sources) await load(source); };
      scope.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      load(url).then(() => {
        this.scope = scope;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }
    postMessage(data) {
      if (this.scope) this.scope.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
    terminate() {}
  };
}
