/* Theme, clock, copying, keys, and the one stream that tells when to ask again. All reading works without it. */
(() => {
  "use strict";
  const root = document.documentElement, stored = "windtunnel-theme";
  const themes = ["auto", "light", "dark"];
  let theme = "auto";
  try { theme = localStorage.getItem(stored) || "auto"; } catch { /* no storage: the system's theme */ }
  const wear = () => { if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme; };
  const turn = () => {
    theme = themes[(themes.indexOf(theme) + 1) % 3];
    try { localStorage.setItem(stored, theme); } catch { /* for this page alone */ }
    wear();
    label();
  };
  const label = () => document.querySelectorAll("[data-theme-toggle]").forEach(b => {
    b.textContent = "Theme: " + (theme === "auto" ? "system" : theme);
  });
  wear();

  const show = () => {
    document.querySelectorAll("[data-theme-toggle],[data-keys-open],[data-copy]").forEach(b => { b.hidden = false; });
    document.querySelectorAll("[data-submit]").forEach(b => { b.hidden = true; });
  };

  /* A clock that runs: told where it is and how fast, it ticks on by itself. */
  const two = n => String(n).padStart(2, "0");
  const tick = () => {
    const clock = document.querySelector("time.tick");
    if (!clock) return;
    if (!clock.dataset.now) { clock.dataset.ticked = ""; return; }
    if (clock.dataset.ticked?.split("@")[0] !== clock.dataset.now) {
      clock.dataset.ticked = clock.dataset.now + "@" + performance.now();
    }
    const since = performance.now() - Number(clock.dataset.ticked.split("@")[1]);
    const at = new Date(Number(clock.dataset.now) + since * Number(clock.dataset.rate));
    if (isNaN(at)) return;
    const told = at.getUTCFullYear() + "-" + two(at.getUTCMonth() + 1) + "-" + two(at.getUTCDate()) + " "
      + two(at.getUTCHours()) + ":" + two(at.getUTCMinutes()) + ":" + two(at.getUTCSeconds());
    if (clock.textContent !== told) clock.textContent = told;
  };

  /* The stream says that something has changed; what is shown asks for itself. Closed while nobody looks. */
  let stream = null;
  const changed = () => document.body.dispatchEvent(new CustomEvent("world-changed"));
  const listen = () => {
    const address = document.body.dataset.changes;
    if (!address || stream || document.hidden) return;
    stream = new EventSource(address);
    stream.addEventListener("changed", changed);
  };
  const attend = () => {
    if (!document.hidden) { listen(); changed(); return; }
    stream?.close();
    stream = null;
  };

  let going = 0;
  const key = event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest?.("input,select,textarea,dialog[open]")) return;
    const pressed = event.key;
    if (going && Date.now() - going < 1500) {
      going = 0;
      document.querySelector("a[data-key='" + CSS.escape(pressed) + "']")?.click();
    } else if (pressed === "g") going = Date.now();
    else if (pressed === "?") document.getElementById("keys")?.showModal();
    else if (pressed === "t") turn();
    else if (pressed === "/") document.querySelector("main input:not([type=hidden]),main select")?.focus();
    else {
      const hot = document.querySelector("button[data-hot='" + CSS.escape(pressed) + "']");
      if (!hot || hot.disabled) return;
      hot.click();
    }
    event.preventDefault();
  };

  const click = event => {
    const at = selector => event.target.closest?.(selector);
    const copy = at("[data-copy]");
    if (copy) {
      navigator.clipboard?.writeText(copy.parentElement.querySelector("code").textContent).then(() => {
        copy.textContent = "Copied";
        setTimeout(() => { copy.textContent = "Copy"; }, 1500);
      });
    } else if (at("[data-theme-toggle]")) turn();
    else if (at("[data-keys-open]")) document.getElementById("keys").showModal();
    document.querySelectorAll("details.menu[open]").forEach(d => { if (!d.contains(event.target)) d.open = false; });
  };

  document.addEventListener("DOMContentLoaded", () => {
    label();
    show();
    tick();
    setInterval(tick, 250);
    document.addEventListener("visibilitychange", attend);
    addEventListener("pagehide", () => { stream?.close(); stream = null; });
    addEventListener("pageshow", listen);
    document.addEventListener("keydown", key);
    document.addEventListener("keyup", event => {
      if (event.key === "Escape") document.querySelectorAll("details.menu[open]").forEach(d => { d.open = false; });
    });
    document.addEventListener("click", click);
    document.addEventListener("change", event => { if (event.target.form?.dataset.filter !== undefined) event.target.form.requestSubmit(); });
    document.body.addEventListener("htmx:after:swap", show);
    listen();
  });
})();
