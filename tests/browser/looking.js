/* What an honest reader would complain of on a page, as a list of sentences. */
() => {
  const found = [];
  const told = el => "<" + el.tagName.toLowerCase() + (el.id ? "#" + el.id : "") + "> " + el.outerHTML.slice(0, 90);
  const visible = el => el.checkVisibility ? el.checkVisibility() : el.getClientRects().length > 0;
  const name = el => (el.getAttribute("aria-label") || el.textContent || el.title || "").trim();
  if (!document.documentElement.lang) found.push("the page has no language");
  if (document.querySelectorAll("h1").length !== 1) found.push("the page has not one h1");
  if (document.documentElement.scrollWidth > innerWidth + 1) {
    const wide = [...document.querySelectorAll("body *")].filter(el => visible(el)
      && el.getBoundingClientRect().right > innerWidth + 1 && !el.closest(".scroll, pre"));
    found.push("the page is " + document.documentElement.scrollWidth + " wide in " + innerWidth + ": "
      + wide.slice(0, 3).map(told).join(" | "));
  }
  const ids = new Set();
  for (const el of document.querySelectorAll("[id]")) {
    if (ids.has(el.id)) found.push("two have one id: " + told(el));
    ids.add(el.id);
  }
  for (const el of document.querySelectorAll("input, select, textarea")) {
    if (el.type === "hidden") continue;
    if (!el.labels.length && !el.getAttribute("aria-label") && !el.getAttribute("aria-labelledby")) {
      found.push("a field without a label: " + told(el));
    }
  }
  for (const el of document.querySelectorAll("button, a[href], summary")) {
    if (!name(el)) found.push("nothing says what it does: " + told(el));
  }
  for (const el of document.querySelectorAll("svg[role=img], [role=region], nav, dialog")) {
    if (!el.getAttribute("aria-label") && !el.getAttribute("aria-labelledby")) found.push("no name: " + told(el));
  }
  for (const el of document.querySelectorAll("[aria-labelledby], label[for]")) {
    const id = el.getAttribute("aria-labelledby") || el.htmlFor;
    if (!document.getElementById(id)) found.push("it names an id that is not there: " + told(el));
  }
  for (const el of document.querySelectorAll(":not(thead) > tr > th")) {
    if (!el.scope) found.push("a heading of a row without a scope: " + told(el));
  }
  for (const el of document.querySelectorAll("[style]")) found.push("a style of its own: " + told(el));
  return found;
}
