"use strict";
// Everything shown here was written by strangers: text goes into the page by textContent only, links only to http(s).
(() => {
  const CHUNK = 500; // rows whose evidence is packed together, as in listing.py
  const A_PAGE = 15; // rows of a table
  const MEMBERS = 20; // of a cluster, shown at once
  const CONTROL = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu;
  const HERE = "this page";
  const KEPT = "the kept page";
  const SAME_WORDS = "No single word of one page stands in place of one of the other. What differs, if anything does, is " +
    "longer: whole passages that only one of them has, or that stand elsewhere. The figures below count them.";
  let wording; // of evidence, from evidence.py

  const visible = (text) => String(text).replace(CONTROL, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
  const number = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : String(Math.round(value * 1e4) / 1e4));
  const figure = (value, unit) => { // as `_figure` of evidence.py
    if (unit === "share") return percent(value);
    if (unit === "flag") return value ? "yes" : "no";
    if (unit === "count") return number(Math.round(Math.expm1(value)));
    return number(Number.isInteger(value) ? value : Math.round(value * 100) / 100);
  };
  const percent = (value) => (value === null || value === undefined ? "–" : (Math.floor(value * 1000) / 10).toFixed(1) + "%");

  function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key in element) element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  function link(url) {
    const text = visible(url);
    if (!/^https?:\/\//i.test(url) || url.endsWith("…")) return make("span", { className: "url" }, text);
    return make("a", { className: "url", href: url, rel: "noreferrer noopener", target: "_blank" }, text);
  }

  const page = (url, title) =>
    title ? [make("span", { className: "page-title" }, visible(title)), link(url)] : [link(url)];

  const keptPage = (columns, i) => keptOf(columns, columns.of[i], columns.url[i]);

  /* A kept page and, where later ones stand for it, the last of these, unless that is its duplicate, at `url`. */
  function keptOf(columns, of, url) {
    const nodes = page(columns.kept[of], columns.kept_title[of]);
    const larger = columns.kept_in[of];
    return larger && larger !== url ? [...nodes, make("span", { className: "quiet" }, "which a later page has replaced: ", link(larger))] : nodes;
  }

  async function unpacked(id) {
    const element = document.getElementById(id);
    const packed = atob(element.textContent);
    const bytes = new Uint8Array(packed.length);
    for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  /* A table with search, filter, order and pages.
     given: where, columns [{name, value(i) to sort by, cells(i) → nodes, className, comes: rows come in its order, "ascending" or "descending"}],
     rows [i], text(i) to search,
     filter {label, values, value(i)}, empty, detail(i) → nodes under a row */
  function table(given) {
    let shown = given.rows;
    let at = 0;
    let order = null;
    const head = make("tr");
    const body = make("tbody");
    const count = make("span", { className: "count", role: "status" });
    const search = make("input", { type: "search", placeholder: "search", "aria-label": "search " + given.name });
    const choice = make("select", { "aria-label": given.filter ? given.filter.label : "" });
    const back = make("button", { type: "button" }, "← back");
    const on = make("button", { type: "button" }, "next →");
    const tools = make("div", { className: "tools" }, search);
    if (given.filter && given.filter.values.length > 1) {
      choice.append(make("option", { value: "" }, given.filter.label));
      for (const value of given.filter.values) choice.append(make("option", { value }, visible(value)));
      tools.append(choice);
    }
    tools.append(make("div", { className: "pager" }, count, back, on));
    for (const column of given.columns) {
      const cell = make("th", { scope: "col", className: column.className || "" });
      if (column.value) {
        const button = make("button", { type: "button" }, column.name);
        button.addEventListener("click", () => {
          order = { column, down: !(order && order.column === column && order.down) };
          for (const other of head.children) other.removeAttribute("aria-sort");
          cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
          pick();
        });
        cell.append(button);
        if (column.comes) {
          order = { column, down: column.comes === "descending" };
          cell.setAttribute("aria-sort", column.comes);
        }
      } else cell.append(column.name);
      head.append(cell);
    }

    function pick() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = choice.value;
      shown = given.rows.filter((i) => {
        if (wanted && given.filter.value(i) !== wanted) return false;
        if (!words.length) return true;
        const text = given.text(i).toLowerCase();
        return words.every((word) => text.includes(word));
      });
      if (order) {
        const { column, down } = order;
        const keyed = shown.map((i) => [column.value(i), i]);
        const sign = down ? -1 : 1;
        keyed.sort(([a], [b]) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -sign : sign));
        shown = keyed.map(([, i]) => i);
      }
      at = 0;
      draw();
    }

    function draw() {
      const rows = [];
      for (const i of shown.slice(at, at + A_PAGE)) {
        const row = make("tr");
        for (const column of given.columns) {
          const cell = make("td", { className: column.className || "" }, ...column.cells(i));
          if (column.label) cell.dataset.label = column.label;
          row.append(cell);
        }
        rows.push(row);
      }
      if (!rows.length) {
        const text = given.rows.length ? "Nothing matches." : given.empty;
        rows.push(make("tr", {}, make("td", { className: "quiet", colSpan: given.columns.length }, text)));
      }
      body.replaceChildren(...rows);
      const last = Math.min(shown.length, at + A_PAGE);
      count.textContent = shown.length ? number(at + 1) + "–" + number(last) + " of " + number(shown.length) : "";
      back.disabled = at === 0;
      on.disabled = last >= shown.length;
    }

    const step = (by) => () => {
      at = Math.max(0, at + by);
      draw();
    };
    back.addEventListener("click", step(-A_PAGE));
    on.addEventListener("click", step(A_PAGE));
    search.addEventListener("input", pick);
    choice.addEventListener("change", pick);
    const where = document.querySelector('[data-table="' + given.where + '"]');
    if (given.rows.length > A_PAGE) where.append(tools);
    where.append(make("table", {}, ...(given.rows.length ? [make("thead", {}, head)] : []), body));
    draw();
    return (text) => {
      search.value = text;
      choice.value = "";
      pick();
      where.scrollIntoView();
    };
  }

  const labels = new Map(); // number of a row → whether the two are the same page
  const labelled = []; // called when a label has changed

  /* Two buttons that say whether the pages of a row are one; a label is taken back by clicking on it again. */
  function labelButtons(columns, i) {
    const buttons = [["same page", true], ["another page", false]].map(([text, same]) => {
      const button = make("button", { type: "button", className: "small" }, text);
      const show = () => button.setAttribute("aria-pressed", String(labels.get(i) === same));
      button.addEventListener("click", () => {
        if (labels.get(i) === same) labels.delete(i);
        else labels.set(i, same);
        for (const told of [...document.querySelectorAll("[aria-pressed]")]) told.dispatchEvent(new Event("labelled"));
        for (const told of labelled) told();
      });
      button.addEventListener("labelled", show);
      show();
      return button;
    });
    const isCut = [columns.url[i], columns.kept[columns.of[i]]].some((url) => url.endsWith("…"));
    if (isCut) for (const button of buttons) button.disabled = true; // too long to be listed whole
    return make("span", { className: "labels" }, ...buttons);
  }

  /* The labels as JSON Lines, in the order in which they were given. */
  function offerLabels(columns) {
    const button = document.getElementById("labels");
    labelled.push(() => {
      button.disabled = labels.size === 0;
      button.textContent = "download " + number(labels.size) + (labels.size === 1 ? " label" : " labels");
    });
    button.addEventListener("click", () => {
      const rows = [...labels].map(([i, same]) =>
        JSON.stringify({ new: columns.url[i], kept: columns.kept[columns.of[i]], same }) + "\n");
      const url = URL.createObjectURL(new Blob(rows, { type: "application/jsonl" }));
      make("a", { href: url, download: "labels.jsonl" }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60000); // a browser may ask where to, first
    });
  }

  /* How probable a duplicate is, and how probable it had to be. */
  const sureness = (columns, i) => {
    const needed = columns.needed[i];
    const reached = percent(columns.probability[i]);
    return needed === null ? [reached] : [reached, make("span", { className: "quiet" }, " of " + percent(needed) + " needed")];
  };

  const numeric = (name, value, cells, more) => ({ name, label: name, className: "number inline", value, cells, ...more });

  const names = (values) => [...new Set(values)].filter(Boolean).sort();

  function verdicts(columns) {
    const duplicates = [];
    const doubted = [];
    for (let i = columns.url.length - 1; i >= 0; i--) (columns.doubt[i] ? doubted : duplicates).push(i);
    const sure = (i) => columns.probability[i] ?? 2; // equal texts have none: nothing was weighed
    duplicates.sort((a, b) => sure(a) - sure(b)); // what is worth a look; of the same, the newest
    doubted.sort((a, b) => sure(b) - sure(a));
    const text = (i) => columns.url[i] + " " + columns.kept[columns.of[i]] + " " + columns.title[i];
    const filter = (rows) => ({
      label: "every check",
      values: names(rows.map((i) => columns.check[i])),
      value: (i) => columns.check[i],
    });
    const compareButton = (i) => {
      const button = make("button", { type: "button", className: "small" }, "side by side");
      button.addEventListener("click", () => compare(columns, i));
      return button;
    };
    const shared = (of, comes) => [
      { name: "page", value: (i) => columns.url[i], cells: (i) => page(columns.url[i], columns.title[i]) },
      { name: of, label: of, value: (i) => columns.kept[columns.of[i]], cells: (i) => keptPage(columns, i) },
      {
        name: "check",
        className: "inline",
        value: (i) => columns.check[i],
        cells: (i) => [make("span", { className: "tag" }, visible(columns.check[i]))],
      },
      numeric("similarity", (i) => columns.similarity[i], (i) => [percent(columns.similarity[i])]),
      numeric("sure", (i) => columns.probability[i], (i) => sureness(columns, i), { comes }),
      { name: "", className: "choices", cells: (i) => [compareButton(i), labelButtons(columns, i)] },
    ];
    const find = table({
      where: "duplicates",
      name: "duplicates",
      columns: shared("duplicate of", "ascending"),
      rows: duplicates,
      text,
      filter: filter(duplicates),
      empty: "No duplicate was found.",
    });
    table({
      where: "doubt",
      name: "pages in doubt",
      columns: shared("resembles", "descending"),
      rows: doubted,
      text,
      filter: filter(doubted),
      empty: "Nothing was let through in doubt.",
    });
    clusters(columns, duplicates, find, compareButton);
    offerLabels(columns);
  }

  function clusters(columns, duplicates, find, compareButton) {
    const members = new Map(); // number of the kept page → URL → row; of a URL the newest verdict counts
    for (const i of [...duplicates].sort((a, b) => b - a)) {
      const of = columns.of[i];
      if (!members.has(of)) members.set(of, new Map());
      const cluster = members.get(of);
      if (!cluster.has(columns.url[i])) cluster.set(columns.url[i], i);
    }
    const all = [...members].map(([of, cluster]) => {
      const rows = [...cluster.values()];
      const least = rows.reduce((low, i) => Math.min(low, columns.similarity[i] ?? 1), 1);
      const checks = names(rows.map((i) => columns.check[i]));
      return { of, url: columns.kept[of], title: columns.kept_title[of], rows, least, checks };
    });
    all.sort((a, b) => b.rows.length - a.rows.length);
    const list = (cluster) => {
      const details = make("details");
      details.append(make("summary", {}, number(cluster.rows.length)));
      details.addEventListener("toggle", () => {
        if (details.children.length > 1) return;
        const items = cluster.rows.slice(0, MEMBERS).map((i) => make("li", {}, link(columns.url[i]), compareButton(i)));
        details.append(make("ul", { className: "plain" }, ...items));
        if (cluster.rows.length > MEMBERS) {
          const button = make("button", { type: "button", className: "small" }, "all of them");
          button.addEventListener("click", () => find(cluster.url));
          details.append(button);
        }
      });
      return details;
    };
    table({
      where: "clusters",
      name: "clusters",
      columns: [
        { name: "kept page", value: (i) => all[i].url, cells: (i) => keptOf(columns, all[i].of) },
        {
          name: "duplicates",
          label: "duplicates",
          comes: "descending",
          value: (i) => all[i].rows.length,
          cells: (i) => [list(all[i])],
        },
        {
          name: "found by",
          cells: (i) => all[i].checks.map((check) => make("span", { className: "tag" }, visible(check))),
        },
        numeric("least similar", (i) => all[i].least, (i) => [percent(all[i].least)]),
      ],
      rows: [...all.keys()],
      text: (i) => all[i].url + " " + all[i].title,
      empty: "No duplicate was found.",
    });
  }

  function rules(all) {
    table({
      where: "rules",
      name: "rules",
      columns: [
        { name: "site", value: (i) => all[i].site, cells: (i) => [make("span", { className: "site" }, visible(all[i].site))] },
        { name: "rule", value: (i) => all[i].id, cells: (i) => told(all[i]) },
        {
          name: "state",
          className: "inline",
          value: (i) => all[i].state,
          cells: (i) => [make("span", { className: all[i].state === "active" ? "tag" : "tag off" }, all[i].state)],
        },
        numeric("rewrote", (i) => all[i].rewrote, (i) => [number(all[i].rewrote)]),
        numeric("coverage", (i) => all[i].coverage, (i) => [number(all[i].coverage)]),
        numeric("precision", (i) => all[i].precision_at_least, (i) => [percent(all[i].precision), ...atLeast(all[i])]),
      ],
      rows: [...all.keys()],
      text: (i) => [all[i].site, all[i].id, all[i].does, all[i].note, all[i].source].join(" "),
      filter: { label: "every state", values: names(all.map((rule) => rule.state)), value: (i) => all[i].state },
      empty: "There are no rules yet: dedupcrawl train learns them from the crawl log.",
    });
  }

  const atLeast = (rule) => (rule.coverage ? [make("span", { className: "quiet" }, " ≥ " + percent(rule.precision_at_least))] : []);

  function told(rule) {
    const cells = [make("span", { className: "page-title" }, visible(rule.does))];
    const origin = rule.source + (rule.learned ? " " + rule.learned : "") + ", " + rule.kind;
    cells.push(make("span", { className: "quiet url" }, visible(rule.id) + " · " + origin));
    if (rule.note) cells.push(make("span", { className: "quiet url" }, visible(rule.note)));
    if (!rule.examples.length && !rule.coverage && !rule.tried) return cells;
    const lines = rule.examples.map(([from, to]) => make("li", { className: "url" }, visible(from), " → ", visible(to)));
    const proof = [];
    if (rule.coverage)
      proof.push("Learned from " + number(rule.support) + " clusters. On held-out ones it was wrong for " + number(rule.wrong) +
        " of " + number(rule.coverage) + " URLs, and " + number(rule.collisions) + " canonical URLs stood for different pages.");
    if (rule.tried)
      proof.push("Crawls fetched both URLs " + number(rule.tried) + " times; " + number(rule.failed) + " times the pages differed.");
    cells.push(
      make("details", {}, make("summary", { className: "quiet" }, "examples and proof"),
        make("ul", { className: "plain" }, ...lines), make("p", { className: "quiet" }, proof.join(" "))));
    return cells;
  }

  async function compare(columns, i) {
    const dialog = document.getElementById("compare");
    const chunk = await unpacked("evidence-" + Math.floor(i / CHUNK));
    const evidence = chunk[i % CHUNK] || {};
    const close = make("button", { type: "button", autofocus: true }, "close");
    close.addEventListener("click", () => dialog.close());
    const title = columns.doubt[i] ? "Let through, in doubt" : "A duplicate";
    const sides = make("div", { className: "sides" },
      make("div", { className: "side" }, HERE), make("div", { className: "side" }, KEPT),
      make("div", { "data-label": HERE }, ...page(columns.url[i], columns.title[i])),
      make("div", { "data-label": KEPT }, ...keptPage(columns, i)));
    const parts = [
      make("div", { className: "dialog-head" }, make("h2", { id: "compare-title" }, title), close),
      sides,
      make("p", {}, "Found by ", make("span", { className: "tag" }, visible(columns.check[i])),
        ", similarity " + percent(columns.similarity[i]) + ", probability ", ...sureness(columns, i), ". ", labelButtons(columns, i)),
    ];
    if (columns.check[i] === "exact") parts.push(make("p", {}, "The main texts of the two pages are the same."));
    else parts.push(...differences(evidence));
    if (document.getElementById("texts-" + i)) parts.push(texts(await unpacked("texts-" + i)));
    else parts.push(...pieces(evidence));
    dialog.replaceChildren(...parts, facts(evidence));
    if (!dialog.open) dialog.showModal();
    for (const place of dialog.querySelectorAll("[data-first]")) {
      const column = place.parentElement;
      column.scrollTop = place.offsetTop - column.offsetTop - column.clientHeight / 4;
    }
    dialog.scrollTop = 0;
  }

  const differing = (evidence) => (Array.isArray(evidence.differs) ? evidence.differs : []);

  /* Where on the page the pieces lie that differ. */
  function differences(evidence) {
    // Places count words of the whole main text, of which its own are what its site does not repeat.
    const own = 1 - (Number(evidence.template) || 0);
    const length = own > 0 ? Math.round(Number(evidence.symbols) / own) || 0 : 0;
    if (!differing(evidence).length || !length) return [make("p", {}, SAME_WORDS)];
    const strip = make("div", { className: "strip", role: "img", "aria-label": "where this page differs" });
    for (const piece of differing(evidence)) {
      const mark = make("i");
      mark.style.left = (100 * Number(piece.at)) / length + "%";
      mark.style.width = (100 * String(piece.says).split(/\s+/).length) / length + "%";
      strip.append(mark);
    }
    return [make("p", { className: "quiet" }, "The page from its first word to its last, with what differs marked."), strip];
  }

  /* What stands there on either side; of the kept page only its length, where its text was not kept. */
  function pieces(evidence) {
    if (!differing(evidence).length) return [];
    const [says, has] = ["this page says", "there, the kept page has"];
    const rows = make("div", { className: "sides" },
      make("div", { className: "side" }, says), make("div", { className: "side" }, has));
    for (const piece of differing(evidence)) {
      const text = piece.says ? make("mark", {}, visible(piece.says)) : make("span", { className: "quiet" }, "nothing");
      const words = Number(piece.kept_symbols);
      const count = words === 1 ? "1 word" : number(words) + " words";
      const other = words ? (piece.kept_says ? visible(piece.kept_says) : count + ", not stored") : "nothing";
      const where = (wording.places[piece.place] || "in") + (wording.places[piece.place] ? " of " : " ") +
        (piece.own === false ? "what its site repeats" : "its own text");
      const kind = wording.kinds[piece.kind] ? ": " + wording.kinds[piece.kind] : "";
      const at = make("span", { className: "quiet" }, " at word " + number(Number(piece.at) + 1) + ", " + where + kind);
      rows.append(
        make("div", { "data-label": says }, text, at),
        make("div", { "data-label": has, className: words ? "" : "quiet" }, other));
    }
    return [rows];
  }

  /* Both texts, each stretch that the other lacks marked, and in both the place of the first one. */
  function texts(stretches) {
    const columns = [1, 2].map((side) => {
      const column = make("div", { className: "text", tabIndex: 0, "data-label": side === 1 ? HERE : KEPT });
      const first = stretches.findIndex((stretch) => !stretch[0]);
      stretches.forEach((stretch, at) => {
        const text = visible(stretch[side].replace(/\n/g, " ¶ "));
        const piece = stretch[0] ? text : make(text ? "mark" : "span", {}, text);
        if (at === first) piece.dataset.first = "";
        if (text || at === first) column.append(piece, " ");
      });
      return column;
    });
    return make("div", { className: "sides" },
      make("div", { className: "side" }, HERE), make("div", { className: "side" }, KEPT), ...columns);
  }

  function facts(evidence) {
    const list = make("dl", { className: "facts" });
    for (const [name, label] of Object.entries(wording.labels)) {
      const value = evidence[name];
      if (typeof value !== "number") continue;
      list.append(make("dt", {}, figure(value, wording.units[name])), make("dd", {}, label));
    }
    return list;
  }

  Promise.all([unpacked("columns"), unpacked("rules-data"), unpacked("words")]).then(([columns, all, said]) => {
    wording = said;
    verdicts(columns);
    rules(all);
    document.documentElement.dataset.ready = "yes";
  });
})();
