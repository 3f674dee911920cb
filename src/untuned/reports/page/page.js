"use strict";
(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const one = (id) => document.getElementById(id);
  const announce = (text) => (one("announcement").textContent = text);

  // Which algorithms are shown: classes of the page, which the style sheet reads.
  function toggle(button, on) {
    button.setAttribute("aria-pressed", String(on));
    document.body.classList.toggle(`off-${button.dataset.algorithm}`, !on);
  }
  const toggles = all(".toggle");
  const names = new Map(toggles.map((button) => [button.dataset.algorithm, button.title]));
  for (const button of toggles) {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      toggle(button, on);
      announce(`${button.title} is ${on ? "shown" : "hidden"}`);
    });
  }
  for (const button of all(".every")) {
    button.addEventListener("click", () => {
      const on = button.dataset.shown === "true";
      toggles.forEach((each) => toggle(each, on));
      announce(on ? "all algorithms are shown" : "all algorithms are hidden");
    });
  }

  function compare(kind, ascending) {
    return (one, other) => {
      // What is missing stays last, whichever way the rest is sorted.
      if (one.value === "" || other.value === "") return (one.value === "") - (other.value === "");
      const difference =
        kind === "text" ? one.value.localeCompare(other.value, "en", { numeric: true }) : one.value - other.value;
      return ascending ? difference : -difference;
    };
  }
  for (const table of all("table.sortable")) {
    const body = table.tBodies[0];
    all(".sort", table).forEach((button, column) => {
      button.addEventListener("click", () => {
        const heading = button.closest("th");
        const before = heading.getAttribute("aria-sort");
        // Numbers begin with the largest, but ranks and names with the first.
        const rising = button.dataset.kind !== "number";
        const ascending = before === "none" ? rising : before === "descending";
        const rows = Array.from(body.rows, (row) => ({ row, value: row.cells[column].dataset.value }));
        rows.sort(compare(button.dataset.kind, ascending));
        body.append(...rows.map((each) => each.row));
        all("th[aria-sort]", table).forEach((each) => each.setAttribute("aria-sort", "none"));
        heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        announce(`sorted by ${button.textContent}, ${ascending ? "ascending" : "descending"}`);
      });
    });
  }

  // Environments: sorted, found by name, opened and closed.
  const cards = all(".environment");
  one("sort-environments")?.addEventListener("change", (event) => {
    const key = event.target.value;
    const kind = key === "name" ? "text" : "number";
    const rows = cards.map((card) => ({ card, value: card.dataset[key] }));
    rows.sort(compare(kind, key === "name" || key === "number"));
    one("cards").append(...rows.map((each) => each.card));
    rows.forEach((each, place) => (each.card.open = place < 6));
    announce(`environments sorted by ${key}`);
  });
  one("find-environments")?.addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLocaleLowerCase();
    const found = cards.filter((card) => card.dataset.name.toLocaleLowerCase().includes(wanted));
    cards.forEach((card) => (card.hidden = !found.includes(card)));
    one("found").textContent = wanted ? `${found.length} of ${cards.length} environments` : "";
  });
  for (const button of all(".fold")) {
    button.addEventListener("click", () => {
      cards.forEach((card) => (card.open = button.dataset.open === "true"));
    });
  }
  one("whole")?.addEventListener("change", (event) => document.body.classList.toggle("whole", event.target.checked));

  // A path's points, as they were written: what hovering says is read from them.
  const read = new WeakMap();
  function points(path) {
    if (!read.has(path)) {
      const numbers = path.getAttribute("d").match(/-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)/g) ?? [];
      read.set(path, numbers.map((each) => each.split(",").map(Number)));
    }
    return read.get(path);
  }
  const size = (chart) => chart.dataset.size.split(" ").map(Number);

  // Turned, a quantile function is a distribution function: across and along change places.
  let turned = false;
  const placed = ([x, y], [width, height]) => (turned ? [((height - y) / height) * width, height - (x / width) * height] : [x, y]);
  function turn(chart) {
    for (const path of all(".plot > path", chart)) {
      const there = points(path).map((point) => placed(point, size(chart)).map((each) => each.toFixed(1)).join(","));
      if (there.length) path.setAttribute("d", "M" + there.join(" "));
    }
  }
  one("view")?.addEventListener("change", (event) => {
    turned = event.target.value === "distribution";
    document.body.classList.toggle("turned-view", turned);
    all(".chart:has(.turned)").forEach(turn);
  });

  // Hovering: the words of what is below the pointer, or of the nearest point of a line.
  const tip = one("tip");
  const rounded = (value, span) => {
    const digits = Math.min(Math.max(2 - Math.floor(Math.log10(span || 1)), 0), 8);
    return value.toLocaleString("en", { maximumFractionDigits: digits }).replace("-", "−");
  };
  function scale(chart, name) {
    const [low, high, kind] = chart.dataset[name].split(" ");
    const [start, end] = [Number(low), Number(high)];
    return (share) => {
      const value = kind === "log" ? start * (end / start) ** share : start + share * (end - start);
      return rounded(value, kind === "log" ? value / 10 : end - start);
    };
  }
  function nearest(chart, event) {
    let best = null;
    for (const path of all(".plot path.l[data-a], .plot path.d", chart)) {
      const matrix = path.getScreenCTM();
      if (!matrix || getComputedStyle(path).display === "none") continue;
      points(path).forEach((point, i) => {
        const [x, y] = chart.querySelector(".turned") ? placed(point, size(chart)) : point;
        const distance = Math.hypot(matrix.a * x + matrix.e - event.clientX, matrix.d * y + matrix.f - event.clientY);
        if (!best || distance < best.distance) best = { path, point, i, distance };
      });
    }
    return best && best.distance < 40 ? best : null;
  }
  function words(chart, { path, point, i }) {
    if (path.dataset.t) return path.dataset.t.split("\n")[i];
    const [width, height] = size(chart);
    const name = names.get(path.dataset.a);
    if (path.classList.contains("d")) {
      const value = path.dataset.v ? rounded(Number(path.dataset.v.split(" ")[i]), 0.001) : scale(chart, "x")(point[0] / width);
      const run = path.dataset.r?.split("\n")[i];
      return `${name}\n${chart.dataset.tx} ${value}${run === undefined ? "" : `\nrun ${run}`}`;
    }
    const at = scale(chart, "y");
    const ends = all(`.plot .b.a${path.dataset.a}`, chart)
      .flatMap(points)
      .filter((each) => each[0] === point[0])
      .map((each) => at(1 - each[1] / height));
    const band = ends.length === 2 ? ` (${ends[1]}, ${ends[0]})` : "";
    return `${name}\n${chart.dataset.tx} ${scale(chart, "x")(point[0] / width)}\n${chart.dataset.ty} ${at(1 - point[1] / height)}${band}`;
  }
  function hover(event) {
    const chart = event.target.closest?.("svg.chart");
    const marked = event.target.closest?.("[data-tip]");
    const found = marked || !chart?.dataset.size ? null : nearest(chart, event);
    tip.hidden = !marked && !found;
    if (tip.hidden) return;
    tip.textContent = marked ? marked.dataset.tip : words(chart, found);
    const { offsetWidth: width, offsetHeight: height } = tip;
    const x = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 6);
    const y = event.clientY + height + 24 > window.innerHeight ? event.clientY - height - 12 : event.clientY + 16;
    tip.style.transform = `translate(${Math.max(x, 4)}px, ${Math.max(y, 4)}px)`;
  }
  document.addEventListener("pointermove", hover);
  document.addEventListener("pointerdown", hover);
  document.addEventListener("scroll", () => (tip.hidden = true), { passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
  });

  // Every chart of hyperparameters is in the page; two selects choose which are seen.
  const groups = all(".response-group");
  if (groups.length) {
    const choices = ["algorithm", "environment"].map((what) => {
      const select = one(`response-${what}`);
      const key = what[0];
      const known = new Map(groups.map((group) => [group.dataset[key], group.dataset[what]]));
      const order = key === "e" ? Array.from(known).sort((a, b) => a[0] - b[0]) : Array.from(known);
      for (const [number, name] of order) select.add(new Option(name, number));
      return select;
    });
    const choose = () => {
      const [a, e] = choices.map((select) => select.value);
      groups.forEach((group) => (group.hidden = group.dataset.a !== a || group.dataset.e !== e));
      one("no-response").hidden = groups.some((group) => !group.hidden);
    };
    choices.forEach((select) => select.addEventListener("change", choose));
    choose();
  }

  one("download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([one("evaluation").textContent], { type: "application/json" }));
    link.download = "evaluation.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  // A link to something inside what is folded opens it; on paper everything is open.
  const unfold = () => {
    for (let place = document.querySelector(":target"); place; place = place.parentElement) {
      if (place.tagName === "DETAILS") place.open = true;
    }
  };
  window.addEventListener("hashchange", unfold);
  unfold();
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((each) => (each.open = true));
  });
  window.addEventListener("afterprint", () => closed.forEach((each) => (each.open = false)));
})();
