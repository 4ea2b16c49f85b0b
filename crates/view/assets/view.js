"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // Steps with left and right.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.target.closest("input, select, textarea, .scroll")) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    const link = rel && document.querySelector(`a[rel="${rel}"]`);
    if (!link) return;
    event.preventDefault();
    location.assign(link.href);
  });

  const main = document.querySelector("main[data-live]");
  if (!main) return;
  const note = byId("live");
  let source = null;
  let isOver = false;

  const say = (text, isLost) => {
    note.hidden = false;
    note.textContent = text;
    note.classList.toggle("lost", isLost);
  };

  // Takes a difference between two states: for each element its content, or which of its children follow now.
  const apply = (parts) => {
    for (const [id, part] of Object.entries(parts)) {
      const element = byId(id);
      if (!element) continue;
      if (part.rows) {
        while (element.children.length > part.from) element.lastElementChild.remove();
        element.insertAdjacentHTML("beforeend", part.rows.join(""));
      } else {
        element.innerHTML = part.html;
      }
    }
  };

  const finish = (text) => {
    isOver = true;
    if (source) source.close();
    source = null;
    say(text, false);
  };

  const open = () => {
    if (source || isOver) return;
    source = new EventSource(`${main.dataset.live}&last=${encodeURIComponent(main.dataset.last)}`);
    source.addEventListener("open", () => say("Live.", false));
    source.addEventListener("state", (event) => {
      const state = JSON.parse(event.data);
      apply(state.parts);
      main.dataset.last = state.name;
      say("Live.", false);
      document.dispatchEvent(new CustomEvent("planproof-state", { detail: state.name }));
    });
    source.addEventListener("fault", (event) => say(JSON.parse(event.data).what, true));
    source.addEventListener("done", () => finish("Finished."));
    source.addEventListener("ended", () => finish("Ended: this is the last state. The page stays readable; its links lead nowhere. `planproof view` opens the store again."));
    source.addEventListener("error", () => {
      if (isOver) return;
      // A browser tries again by itself unless it was refused.
      const isClosed = source && source.readyState === EventSource.CLOSED;
      if (isClosed) source = null;
      say(isClosed ? "Not live: the server refused or has ended. Reload the page to try again." : "Not live: the connection broke; trying again.", true);
    });
  };

  // A browser has few connections to one server, so only a page that is seen takes one.
  const follow = () => {
    if (!document.hidden) return open();
    if (source) source.close();
    source = null;
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => { if (source) source.close(); source = null; });
  addEventListener("pageshow", follow);
  follow();
})();
