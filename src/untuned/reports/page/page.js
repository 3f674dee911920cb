"use strict";
(() => {
  const data = JSON.parse(document.getElementById("charts").textContent);
  const shown = data.algorithms.map(() => true);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  let view = "quantile";
  let whole = false;

  // Names are arbitrary text, in which the charts would interpret tags and formulas.
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "\n": " " };
  const plain = (text) => String(text).replace(/[&<>$\n]/g, (letter) => entities[letter]);
  // In a template of what hovering shows, %{...} would be replaced as well.
  const hovered = (text) => plain(text).replace(/%/g, "&#37;");
  const brief = (text, most = 26) => {
    const letters = Array.from(text);
    return letters.length <= most ? text : letters.slice(0, most - 9).join("") + "…" + letters.slice(-8).join("");
  };
  const night = () => dark.matches && !printing;
  const colour = (a) => data.algorithms[a][night() ? "dark" : "light"];
  // The more bands overlap, the fainter each is: together they leave half of what is below visible.
  const faint = (a) => {
    const count = shown.filter(Boolean).length;
    const share = Math.min(0.16, 0.8 / Math.max(count, 1));
    return colour(a) + Math.round(255 * share).toString(16).padStart(2, "0");
  };
  const dash = (a, width) => data.algorithms[a].dashes.map((length) => `${length * width}px`).join(",") || "solid";
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const said = (number) =>
    number === null ? "∞" : Number(number).toLocaleString("en", { maximumSignificantDigits: 5 }).replace("-", "−");

  const axis = (title, more = {}) => ({
    title: { text: title, font: { size: 12 }, standoff: 8 },
    gridcolor: ink("--line"),
    zeroline: false,
    linecolor: ink("--muted"),
    // Sideways only: labels that come and go with the height make plotly measure forever.
    automargin: "width",
    ...more,
  });
  const layout = (more) => ({
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink("--text"), size: 12, family: "system-ui, sans-serif" },
    margin: { l: 50, r: 12, t: 10, b: 42 },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { align: "left" },
    dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom",
    // Showing and hiding algorithms keeps the zoom.
    uirevision: `${view} ${whole}`,
    ...more,
  });
  // The bundle brings a button that sends a chart to a server. Only these are shown, whatever the next one brings.
  const buttons = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]];
  const settings = {
    displaylogo: false,
    responsive: true,
    scrollZoom: false,
    plotlyServerURL: "",
  };

  // Several intervals of an algorithm stand below one another, those of the first method on top.
  function aggregate(element, number) {
    const { aggregate: methods, order } = data.rankings[number];
    const count = methods.length;
    const traces = [];
    methods.forEach((method, m) => {
      order.forEach((a, place) => {
        traces.push({
          type: "scatter",
          mode: "markers",
          name: plain(data.algorithms[a].name),
          meta: [plain(data.algorithms[a].name), plain(method.method + (method.valid ? "" : ", approximate"))],
          x: [method.score[a]],
          y: [place + (count > 1 ? (m - (count - 1) / 2) * (0.7 / count) : 0)],
          visible: shown[a],
          marker: {
            color: colour(a),
            symbol: data.algorithms[a].symbol + (method.valid ? "" : "-open"),
            size: count > 1 ? 7 : 10,
          },
          error_x: {
            type: "data",
            symmetric: false,
            array: [method.high[a] - method.score[a]],
            arrayminus: [method.score[a] - method.low[a]],
            color: colour(a),
            thickness: count > 1 ? 1.5 : 2.5,
            width: count > 1 ? 3 : 5,
          },
          customdata: [[method.low[a], method.high[a]]],
          hovertemplate:
            "<b>%{meta[0]}</b><br>%{x:.4f} (%{customdata[0]:.4f}, %{customdata[1]:.4f})<br>%{meta[1]}<extra></extra>",
        });
      });
    });
    return [
      traces,
      layout({
        // Room for the buttons, which would cover the best score of a narrow chart.
        margin: { l: 50, r: 12, t: 36, b: 42 },
        xaxis: axis("aggregate score"),
        yaxis: axis("", {
          tickvals: order.map((_, place) => place),
          ticktext: order.map((a) => plain(brief(data.algorithms[a].name, narrow(element) ? 14 : 26))),
          range: [order.length - 0.5, -0.5],
          showgrid: false,
          fixedrange: true,
        }),
      }),
    ];
  }

  const narrow = (element) => element.clientWidth < 640;

  function order(element, number) {
    const diagram = data.rankings[number].order_diagram;
    const depth = Math.max(...diagram.level);
    // Between two neighbours there is one unit of room for a name.
    const unit = element.clientWidth / (diagram.width + 2);
    const letters = Math.min(Math.max(Math.floor(unit / 7.5) - 3, 10), 26);
    const lines = { x: [], y: [] };
    for (const points of diagram.lines) {
      lines.x.push(...points.map((point) => point[0]), null);
      lines.y.push(...points.map((point) => -point[1]), null);
    }
    const traces = [
      { type: "scatter", mode: "lines", ...lines, line: { color: ink("--muted"), width: 1 }, hoverinfo: "skip" },
      {
        type: "scatter",
        mode: "markers+text",
        cliponaxis: false,
        x: diagram.x,
        y: diagram.level.map((level) => -level),
        text: data.algorithms.map((each) => plain(" " + brief(each.name, letters))),
        textposition: "middle right",
        textfont: { color: ink("--text"), size: 11 },
        customdata: data.algorithms.map((each) => [plain(each.name)]),
        hovertemplate: "%{customdata[0]}<extra></extra>",
        marker: {
          color: data.algorithms.map((_, a) => colour(a)),
          symbol: data.algorithms.map((each) => each.symbol),
          size: 11,
        },
      },
    ];
    const bare = { visible: false, fixedrange: true };
    return [
      traces,
      layout({
        margin: { l: 10, r: 10, t: 10, b: 10 },
        // A lone column would stand at the edge.
        xaxis: { ...bare, range: [diagram.width ? -0.3 : -1, diagram.width + (diagram.width ? 0.9 : 1)] },
        yaxis: { ...bare, range: [-depth - 0.4, 0.4] },
      }),
    ];
  }

  function around(numbers) {
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const margin = 0.05 * (high - low || Math.abs(high) || 1);
    return [low - margin, high + margin];
  }

  // A line for every algorithm, and its band if there is one, below all lines. Turned, x and y change places.
  function lines(series, { view, turned, titles, template, xaxis = {} }) {
    const span = view[1] - view[0];
    // Where nothing bounds a function its band leaves the picture.
    const low = (number) => (number === null ? view[0] - span : number);
    const high = (number) => (number === null ? view[1] + span : number);
    const bands = [];
    const curves = [];
    const marks = [];
    series.forEach((each) => {
      const name = plain(data.algorithms[each.a].name);
      if (each.low) {
        const there = each.x.concat(each.x.slice().reverse());
        const around = each.high.map(high).concat(each.low.map(low).reverse());
        bands.push({
          type: "scatter",
          mode: "lines",
          x: turned ? around : there,
          y: turned ? there : around,
          fill: "toself",
          fillcolor: faint(each.a),
          line: { width: 0 },
          hoverinfo: "skip",
          name,
          visible: shown[each.a],
        });
      }
      curves.push({
        type: "scatter",
        mode: "lines",
        x: turned ? each.y : each.x,
        y: turned ? each.x : each.y,
        name,
        meta: [name],
        customdata: each.x.map((x, i) => [
          said(x),
          said(each.y[i]),
          ...(each.low ? [each.low[i] === null ? "−∞" : said(each.low[i]), said(each.high[i])] : []),
        ]),
        line: { color: colour(each.a), width: 1.8, dash: dash(each.a, 1.8) },
        hovertemplate: template,
        visible: shown[each.a],
      });
      // A mark here and there, not at the same places for all lines. A trace of their own: on every point they take a second.
      const marked = (_, i) => (i + 3 * each.a) % Math.ceil(each.x.length / 6) === 0;
      marks.push({
        type: "scatter",
        mode: "markers",
        x: (turned ? each.y : each.x).filter(marked),
        y: (turned ? each.x : each.y).filter(marked),
        marker: { color: colour(each.a), symbol: data.algorithms[each.a].symbol, size: 7, line: { width: 0 } },
        hoverinfo: "skip",
        name,
        visible: shown[each.a],
      });
    });
    const across = axis(titles[0], xaxis);
    const along = axis(titles[1], { range: view });
    return [
      bands.concat(curves, marks),
      layout(turned ? { xaxis: { ...along }, yaxis: { ...across } } : { xaxis: across, yaxis: along }),
    ];
  }

  function distribution(element, number) {
    const panel = data.distributions.panels[number];
    const series = panel.series.map((each) => ({ ...each, x: data.distributions.levels }));
    return lines(series, {
      view: whole ? around(panel.ends) : panel.view,
      turned: view === "distribution",
      titles: ["probability", "score"],
      template:
        "<b>%{meta[0]}</b><br>%{customdata[0]} of trials score at most<br>" +
        "%{customdata[1]} (%{customdata[2]}, %{customdata[3]})<extra></extra>",
      xaxis: { range: [-0.01, 1.01] },
    });
  }

  function curve(element, number) {
    const panel = data.curves[number];
    const all = panel.series.flatMap((each) => [...each.low, ...each.high, ...each.y]).filter((y) => y !== null);
    return lines(panel.series, {
      view: around(all),
      turned: false,
      titles: [plain(data.unit), "median return"],
      template:
        `<b>%{meta[0]}</b><br>${hovered(data.unit)} %{customdata[0]}<br>` +
        "%{customdata[1]} (%{customdata[2]}, %{customdata[3]})<extra></extra>",
    });
  }

  function efficiency() {
    const { x, label, series } = data.efficiency;
    return lines(
      series.map((each) => ({ ...each, x })),
      {
        view: around(series.flatMap((each) => each.y)),
        turned: false,
        titles: [plain(label), "aggregate score"],
        template: `<b>%{meta[0]}</b><br>${hovered(label)} %{customdata[0]}<br>%{customdata[1]}<extra></extra>`,
      },
    );
  }

  function response(element, number) {
    const each = data.responses[number];
    const labels = each.labels;
    const view = around(each.low.concat(each.high, each.y).filter((y) => y !== null));
    const span = view[1] - view[0];
    const trace = {
      type: "scatter",
      mode: labels ? "markers" : "lines+markers",
      x: each.x,
      y: each.y,
      line: { color: colour(each.a), width: 1.2, dash: dash(each.a, 1.2) },
      marker: { color: colour(each.a), symbol: data.algorithms[each.a].symbol, size: 7 },
      error_y: {
        type: "data",
        symmetric: false,
        array: each.y.map((y, i) => (each.high[i] === null ? view[1] + span : each.high[i]) - y),
        arrayminus: each.y.map((y, i) => y - (each.low[i] === null ? view[0] - span : each.low[i])),
        color: colour(each.a),
        thickness: 1.2,
        width: 3,
      },
      customdata: each.x.map((x, i) => [
        labels ? plain(labels[i]) : said(x),
        said(each.y[i]),
        each.low[i] === null ? "−∞" : said(each.low[i]),
        said(each.high[i]),
      ]),
      meta: [plain(each.name)],
      hovertemplate:
        "%{meta[0]} %{customdata[0]}<br>median score %{customdata[1]} (%{customdata[2]}, %{customdata[3]})<extra></extra>",
    };
    const ticks = labels ? { tickvals: each.x, ticktext: labels.map((label) => plain(brief(label, 14))) } : {};
    return [
      [trace],
      layout({
        xaxis: axis(plain(brief(each.name, 40)), { type: each.log ? "log" : "linear", automargin: "height", ...ticks }),
        yaxis: axis("median score", { range: view }),
      }),
    ];
  }

  // Bounds hold from their round on, so both ends are steps; all panels have one scale.
  function closing(element, number) {
    const { label, x, ticks, pairs } = data.race;
    const several = x.length > 1 && { type: "log", range: [x[0], x[x.length - 1]].map(Math.log10) };
    const each = pairs[number];
    const widest = Math.max(...pairs.flatMap((pair) => pair.low.concat(pair.high)).map(Math.abs)) * 1.05;
    const end = (y, more) => ({
      type: "scatter",
      mode: "lines",
      x,
      y,
      line: { color: colour(each.a), width: 1.5, shape: "hv" },
      customdata: x.map((_, k) => [k + 1, said(each.low[k]), said(each.high[k])]),
      hovertemplate: "round %{customdata[0]}<br>%{customdata[1]} to %{customdata[2]}<extra></extra>",
      ...more,
    });
    const traces = [end(each.low), end(each.high, { fill: "tonexty", fillcolor: colour(each.a) + "33" })];
    if (each.decided !== null) {
      traces.push({
        type: "scatter",
        mode: "markers",
        x: [x[each.decided]],
        y: [0],
        cliponaxis: false,
        marker: { color: colour(each.a), size: 10, line: { width: 1.5, color: ink("--ground") } },
        hovertemplate: `decided in round ${each.decided + 1}<extra></extra>`,
      });
    }
    return [
      traces,
      layout({
        xaxis: axis(plain(label), { tickvals: ticks, ticktext: ticks.map(said), ...several }),
        yaxis: axis("difference of scores", {
          range: [-widest, widest],
          zeroline: true,
          zerolinecolor: ink("--text"),
          zerolinewidth: 1,
        }),
      }),
    ];
  }

  const kinds = { aggregate, order, distribution, curve, efficiency, response, closing };
  const drawn = new Set();

  function draw(element) {
    const [traces, arrangement] = kinds[element.dataset.chart](element, Number(element.dataset.number));
    // Before printing the window still has its own width: these fit between the margins of A4 and letter paper.
    if (printing) arrangement.width = element.closest(".panel") ? 330 : 680;
    drawn.add(element);
    const still = element.dataset.chart === "order";
    const made = Plotly.react(element, traces, arrangement, {
      ...settings,
      modeBarButtons: still ? buttons.slice(0, 1) : buttons,
    });
    // The element has a name that says what there is; its letters and lines by themselves say nothing.
    element.querySelectorAll(".main-svg").forEach((each) => each.setAttribute("aria-hidden", "true"));
    return made;
  }

  // Those far from the window are drawn again when they come near: fifty of fifty algorithms would take half a minute.
  const near = new Set();
  function redraw() {
    for (const element of Array.from(drawn)) {
      if (near.has(element)) draw(element);
      else drawn.delete(element);
    }
  }

  // A chart is drawn when it comes near the window: 57 environments would take seconds together.
  const nearby = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) near.add(entry.target);
        else near.delete(entry.target);
        if (entry.isIntersecting && !drawn.has(entry.target)) draw(entry.target);
      }
    },
    { rootMargin: "400px" },
  );
  const watch = (element) => nearby.observe(element);
  document.querySelectorAll(".chart").forEach(watch);

  // The same line and mark as in the charts, wherever an algorithm is named.
  const paths = {
    circle: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    square: "M-3.6,-3.6H3.6V3.6H-3.6Z",
    diamond: "M0,-4.8L4.8,0L0,4.8L-4.8,0Z",
    "triangle-up": "M0,-4.6L4.4,3.4H-4.4Z",
    "triangle-down": "M0,4.6L4.4,-3.4H-4.4Z",
    "triangle-left": "M-4.6,0L3.4,-4.4V4.4Z",
    "triangle-right": "M4.6,0L-3.4,-4.4V4.4Z",
    cross: "M-1.5,-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
    x: "M-4.2,-2.1L-2.1,-4.2L0,-2.1L2.1,-4.2L4.2,-2.1L2.1,0L4.2,2.1L2.1,4.2L0,2.1L-2.1,4.2L-4.2,2.1L-2.1,0Z",
    star: "M0,-5L1.2,-1.6L4.8,-1.5L1.9,0.6L2.9,4L0,2L-2.9,4L-1.9,0.6L-4.8,-1.5L-1.2,-1.6Z",
    hexagon: "M0,-4.6L4,-2.3V2.3L0,4.6L-4,2.3V-2.3Z",
  };
  function marks() {
    document.querySelectorAll("[data-mark]").forEach((element) => {
      const a = Number(element.dataset.mark);
      const strokes = data.algorithms[a].dashes.map((length) => length * 2).join(" ");
      element.innerHTML =
        `<svg viewBox="-15 -6 30 12" width="30" height="12" focusable="false">` +
        `<path d="M-15,0H15" stroke="${colour(a)}" stroke-width="2" stroke-dasharray="${strokes}"/>` +
        `<path d="${paths[data.algorithms[a].symbol]}" fill="${colour(a)}"/></svg>`;
    });
  }
  marks();

  function announce(text) {
    document.getElementById("announcement").textContent = text;
  }

  function toggle(a, on) {
    shown[a] = on;
    document.querySelector(`.toggle[data-algorithm="${a}"]`).setAttribute("aria-pressed", String(on));
  }
  document.querySelectorAll(".toggle").forEach((button) => {
    button.addEventListener("click", () => {
      const a = Number(button.dataset.algorithm);
      toggle(a, !shown[a]);
      announce(`${data.algorithms[a].name} is ${shown[a] ? "shown" : "hidden"}`);
      redraw();
    });
  });
  document.querySelectorAll(".every").forEach((button) => {
    button.addEventListener("click", () => {
      const on = button.dataset.shown === "true";
      data.algorithms.forEach((_, a) => toggle(a, on));
      announce(on ? "all algorithms are shown" : "all algorithms are hidden");
      redraw();
    });
  });
  document.querySelectorAll("input[name=view]").forEach((input) => {
    input.addEventListener("change", () => {
      view = input.value;
      redraw();
    });
  });

  document.getElementById("whole").addEventListener("change", (event) => {
    whole = event.target.checked;
    redraw();
  });

  function compare(kind, ascending) {
    return (one, other) => {
      // What is missing stays last, whichever way the rest is sorted.
      if (one.value === "" || other.value === "") return (one.value === "") - (other.value === "");
      const difference =
        kind === "text" ? one.value.localeCompare(other.value, "en", { numeric: true }) : one.value - other.value;
      return ascending ? difference : -difference;
    };
  }
  document.querySelectorAll("table.sortable").forEach((table) => {
    const body = table.tBodies[0];
    table.querySelectorAll(".sort").forEach((button, column) => {
      button.addEventListener("click", () => {
        const heading = button.closest("th");
        const before = heading.getAttribute("aria-sort");
        // Numbers begin with the largest, but ranks and names with the first.
        const rising = button.dataset.kind !== "number";
        const ascending = before === "none" ? rising : before === "descending";
        const rows = Array.from(body.rows, (row) => ({ row, value: row.cells[column].dataset.value }));
        rows.sort(compare(button.dataset.kind, ascending));
        body.append(...rows.map((each) => each.row));
        table.querySelectorAll("th[aria-sort]").forEach((each) => each.setAttribute("aria-sort", "none"));
        heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        announce(`sorted by ${button.textContent}, ${ascending ? "ascending" : "descending"}`);
      });
    });
  });

  const choices = ["algorithm", "environment"].map((what) => document.getElementById(`response-${what}`));
  if (choices[0]) {
    const panels = document.getElementById("responses");
    const fill = (select, numbers, name) => {
      for (const number of new Set(numbers)) select.add(new Option(name(number), number));
    };
    const places = data.order.filter((a) => data.responses.some((each) => each.a === a));
    fill(choices[0], places, (a) => data.algorithms[a].name);
    fill(choices[1], data.responses.map((each) => each.e), (e) => data.distributions.panels[e].environment);
    const choose = () => {
      const [a, e] = choices.map((select) => Number(select.value));
      for (const old of panels.querySelectorAll(".chart")) {
        drawn.delete(old);
        near.delete(old);
        nearby.unobserve(old);
        Plotly.purge(old);
      }
      panels.textContent = "";
      data.responses.forEach((each, number) => {
        if (each.a !== a || each.e !== e) return;
        const panel = document.createElement("article");
        panel.className = "panel";
        const title = document.createElement("h3");
        title.textContent = each.name;
        const source = document.createElement("p");
        source.className = "small";
        source.textContent = `from ${each.from}`;
        const chart = document.createElement("div");
        chart.className = "chart response";
        chart.dataset.chart = "response";
        chart.dataset.number = number;
        chart.setAttribute("role", "figure");
        chart.setAttribute("aria-label", `Median score by ${each.name}`);
        panel.append(title, source, chart);
        panels.append(panel);
        watch(chart);
      });
      if (!panels.childElementCount) panels.textContent = "Nothing is drawn here.";
    };
    choices.forEach((select) => select.addEventListener("change", choose));
    choose();
  }

  document.getElementById("download").addEventListener("click", () => {
    const text = document.getElementById("evaluation").textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "evaluation.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  dark.addEventListener("change", () => {
    marks();
    redraw();
  });

  // On paper: dark on white, every chart, every table.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    printing = true;
    document.documentElement.classList.add("paper");
    closed = Array.from(document.querySelectorAll("details:not([open])"));
    closed.forEach((each) => (each.open = true));
    marks();
    document.querySelectorAll(".chart").forEach(draw);
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    document.documentElement.classList.remove("paper");
    closed.forEach((each) => (each.open = false));
    marks();
    redraw();
  });
})();
