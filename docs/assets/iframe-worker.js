// A page that was opened from the disk may start no worker, and the search of the site is one.
// There it runs in a hidden frame of the same page; everywhere else this file does nothing.
// The name is what mkdocs.yml and the theme call it by. The search in English loads no further script.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #inside;
    #waiting = [];

    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      this.#inside = frame.contentWindow;
      this.#inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.#inside.document.createElement("script");
      script.src = address;
      script.addEventListener("load", () => {
        const waiting = this.#waiting;
        this.#waiting = null;
        waiting.forEach((data) => this.#deliver(data));
      });
      this.#inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.#waiting) this.#waiting.push(data);
      else this.#deliver(data);
    }

    terminate() {
      this.#inside.frameElement.remove();
    }

    #deliver(data) {
      this.#inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
