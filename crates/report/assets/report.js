"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // Light or dark: what the system says, until the button is used. The choice is kept where the browser allows it.
  const themeKey = "planproof-theme";
  const button = byId("theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
  try {
    const kept = localStorage.getItem(themeKey);
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch { /* Files may have no storage. */ }
  button.hidden = false;
  label();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
    try { localStorage.setItem(themeKey, root.dataset.theme); } catch { /* As above. */ }
  });

  // The words of a constraint light up while it is pointed at.
  const light = (event) => {
    for (const mark of document.querySelectorAll("mark.lit")) mark.classList.remove("lit");
    const item = event.target.closest("li[data-constraint]");
    if (!item) return;
    const ids = item.dataset.constraint.split(" ");
    for (const mark of item.closest(".case").querySelectorAll("mark")) {
      if (mark.dataset.constraint.split(" ").some((id) => ids.includes(id))) mark.classList.add("lit");
    }
  };
  document.addEventListener("mouseover", light);

  // On paper there is nothing to unfold.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.case:not([open]):not([hidden])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of folded) details.open = false; });

  // Choosing among the cases, and pages of those that remain.
  const filter = byId("filter");
  if (!filter) return;
  const pageSize = 25;
  const cases = [...document.querySelectorAll("details[data-case]")];
  const paged = [...document.querySelectorAll(".cases[data-paged] > details[data-case]")];
  const texts = new Map();
  const textOf = (details) => {
    if (!texts.has(details)) texts.set(details, details.textContent.toLowerCase());
    return texts.get(details);
  };
  const fields = filter.elements;
  let page = 0;
  let chosen = cases;

  const pagers = [];
  const makePager = (list, before) => {
    const nav = document.createElement("nav");
    nav.className = "pager";
    nav.setAttribute("aria-label", before ? "Pages, above the list" : "Pages, below the list");
    const make = (text, step) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => {
        page += step;
        show();
        if (!before) list.scrollIntoView();
      });
      return button;
    };
    const [back, where, on] = [make("Previous", -1), document.createElement("span"), make("Next", 1)];
    nav.append(back, where, on);
    list[before ? "before" : "after"](nav);
    pagers.push({ nav, back, where, on });
  };

  const show = () => {
    const inChosen = new Set(chosen);
    const listed = paged.filter((details) => inChosen.has(details));
    const pages = Math.max(1, Math.ceil(listed.length / pageSize));
    page = Math.min(Math.max(page, 0), pages - 1);
    const onPage = new Set(listed.slice(page * pageSize, (page + 1) * pageSize));
    const isPaged = new Set(paged);
    for (const details of cases) {
      details.hidden = isPaged.has(details) ? !onPage.has(details) : !inChosen.has(details);
    }
    for (const { nav, back, where, on } of pagers) {
      nav.hidden = pages === 1;
      where.textContent = `page ${page + 1} of ${pages}`;
      back.disabled = page === 0;
      on.disabled = page === pages - 1;
    }
    fields.found.textContent = chosen.length === cases.length ? `${cases.length} shown here` : `${chosen.length} of ${cases.length}`;
  };
  const choose = () => {
    const words = fields.text.value.trim().toLowerCase();
    chosen = cases.filter((details) =>
      (!fields.class.value || details.dataset.class === fields.class.value)
      && (!fields.actions.value || details.dataset.actions === fields.actions.value)
      && (!words || textOf(details).includes(words)));
    page = 0;
    show();
  };
  let waiting = 0;
  filter.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(choose, 120);
  });
  filter.addEventListener("submit", (event) => { event.preventDefault(); choose(); });

  // A link to a case unfolds it, on whichever page it is.
  const follow = () => {
    const target = byId(location.hash.slice(1));
    if (!target || !target.matches("details[data-case]")) return;
    filter.reset();
    choose();
    if (paged.includes(target)) page = Math.floor(paged.indexOf(target) / pageSize);
    show();
    target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", follow);

  for (const list of document.querySelectorAll(".cases[data-paged]")) {
    makePager(list, true);
    makePager(list, false);
  }
  filter.hidden = false;
  choose();
  follow();
})();
