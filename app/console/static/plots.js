/* Plots what a budget has spent beside its limit. Without this script the page shows the same as a table. */
(() => {
  "use strict";
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = name => {
    const probe = document.createElement("i");
    probe.style.color = "var(" + name + ")";
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const two = n => String(n).padStart(2, "0");
  const day = seconds => {
    const at = new Date(seconds * 1000);
    return at.getUTCFullYear() + "-" + two(at.getUTCMonth() + 1) + "-" + two(at.getUTCDate());
  };
  const time = seconds => {
    const at = new Date(seconds * 1000);
    return two(at.getUTCHours()) + ":" + two(at.getUTCMinutes());
  };
  const minute = seconds => day(seconds) + " " + time(seconds);
  const plot = box => {
    const told = JSON.parse(box.dataset.plot);
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line") }, ticks: { stroke: colour("--line") }, font: "11px " + style("--sans") };
    const line = (label, name, more) => ({ label, stroke: colour(name), width: 2, spanGaps: true, points: { show: false }, ...more });
    const width = Math.max(280, box.clientWidth);
    box.textContent = "";
    if (!box.drawn) box.nextElementSibling.open = false;
    box.drawn = new uPlot({
      width, height: 240, tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      cursor: { y: false },
      scales: { y: { range: (u, low, high) => [0, (high || 1) * 1.08] } },
      axes: [
        { ...axis, values: (u, marks, a, s, step) => marks.map((at, place) => step >= 86400 ? day(at) : place && at % 86400 ? time(at) : minute(at)), space: 120 },
        { ...axis, size: 70, values: (u, marks) => marks.map(value => value.toLocaleString("en")) },
      ],
      series: [
        { value: (u, seconds) => seconds == null ? "–" : minute(seconds) },
        line("spent, " + told.unit, "--accent", { fill: colour("--accent-soft") }),
        line("forecast", "--warn", { dash: [5, 4] }),
        line("limit", "--bad", { width: 1.5 }),
      ],
    }, [told.times, told.charged, told.forecast, told.limit], box);
    box.drawnOf = box.dataset.plot + document.documentElement.dataset.theme;
  };
  const all = () => document.querySelectorAll("[data-plot]").forEach(box => {
    if (box.drawnOf === box.dataset.plot + document.documentElement.dataset.theme && box.firstChild) return;
    box.drawn?.destroy();
    plot(box);
  });
  const again = () => document.querySelectorAll("[data-plot]").forEach(box => { box.drawn?.setSize({ width: Math.max(280, box.clientWidth), height: 240 }); });
  document.addEventListener("DOMContentLoaded", () => {
    all();
    document.body.addEventListener("htmx:after:swap", all);
    addEventListener("resize", again);
    new MutationObserver(all).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      document.querySelectorAll("[data-plot]").forEach(box => { box.drawnOf = ""; });
      all();
    });
  });
})();
