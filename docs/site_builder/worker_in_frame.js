// The search of the site runs in a worker. A page that is opened as a file may start none, so there it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.onmessage?.({ data });
      const script = inside.document.createElement("script");
      script.src = new URL(address, document.baseURI);
      this.loaded = new Promise((resolve) => script.addEventListener("load", resolve));
      inside.document.head.append(script);
    }

    async postMessage(data) {
      await this.loaded;
      this.frame.contentWindow.onmessage({ data });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
