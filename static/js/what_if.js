// The what-if page: sliders set weights, and the board follows at once, ranked here as `ranking_engine` ranks it. What is
// too large or too slow for that is asked of the server when the reader stops. Without this module the page is a form.

import { Contest } from "./rules/catalogue.js";
import { Board } from "./what_if/board.js";
import { Sliders } from "./what_if/sliders.js";
import { Weighting } from "./what_if/weighting.js";
import { filled } from "./what_if/words.js";

const SETTLE = 500; // milliseconds without a change after which the address, the server and the reader are told
const MOST_FACTOR = 1000; // by which many weights are multiplied at once
const FRAME = "what-if frame"; // the name of the measures that the browser keeps of the time a frame took
const root = document.getElementById("what-if");
const form = document.getElementById("weights");

const answer = await fetch(root.dataset.url);
if (answer.ok) start(await answer.json());

function start(data) {
  const weighting = new Weighting(data, root.dataset.aggregation);
  weighting.take(new URLSearchParams(location.search));
  const contest = data.values && "live" in root.dataset ? new Contest(data) : null;
  const board = new Board(root, data);
  const { rule, policy } = form.elements;
  const state = { rule: rule.value, policy: policy.value, frame: 0, timer: 0, request: null };
  const sliders = new Sliders(form, weighting, changed);
  const isTyped = sliders.takeTyped() || state.rule !== root.dataset.rule || state.policy !== root.dataset.policy;
  sliders.show();
  watch();
  offerMany();
  offerRestriction();
  offerCopy();
  if (isTyped) changed();

  function changed(moved) {
    state.moved = moved;
    if (!state.frame) state.frame = requestAnimationFrame(draw);
    clearTimeout(state.timer);
    state.timer = setTimeout(settle, SETTLE);
  }

  /** Rank and show, at most once a frame. */
  function draw() {
    state.frame = 0;
    const started = performance.now();
    sliders.show(state.moved);
    const ranking = ranked();
    if (ranking) board.show(ranking, state.rule);
    board.dim(!ranking);
    performance.measure(FRAME, { start: started });
  }

  function ranked() {
    if (!contest?.rules.has(state.rule) || weighting.aggregation === "two_step" || state.policy === "predicted") {
      return null;
    }
    const options = { aggregation: weighting.aggregation, policy: state.policy, rules: board.rules };
    return contest.rank({ tasks: weighting.read.task, groups: weighting.read.group }, options);
  }

  /** The reader has stopped: say where they are, ask the server for the rest, tell who listens. */
  async function settle() {
    performance.clearMeasures(FRAME);
    if (!weighting.shares()) return;
    const address = here();
    history.replaceState(null, "", address);
    document.getElementById("permalink").href = address;
    document.getElementById("conditions").value = weighting.conditions();
    for (const link of root.querySelectorAll("[data-preset]")) {
      link.toggleAttribute("aria-current", link.getAttribute("href") === address);
      if (link.hasAttribute("aria-current")) link.setAttribute("aria-current", "true");
    }
    keep();
    const isLive = Boolean(ranked());
    if (isLive) announce();
    if (!isLive || [...board.chips.values()].some((chip) => "slow" in chip.dataset)) await ask(address, isLive);
    if (!isLive) announce();
  }

  function announce() {
    document.getElementById("announcement").textContent = board.announcement();
  }

  async function ask(address, isLive) {
    state.request?.abort();
    state.request = new AbortController();
    try {
      const answer = await fetch(address, { signal: state.request.signal });
      if (!answer.ok || here() !== address) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (page.getElementById("outcome") && here() === address) board.adopt(page, { onlySlow: isLive, isLive });
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }

  /** The address of this state: only what differs from the benchmark's own. */
  function here() {
    const parameters = weighting.parameters();
    if (state.policy !== data.policy) parameters.set("policy", state.policy);
    if (state.rule !== root.dataset.defaultRule) parameters.set("rule", state.rule);
    if (root.dataset.revision) parameters.set("revision", root.dataset.revision);
    const query = [...parameters].filter(([, value]) => value).map(([name, value]) => `${name}=${value}`).join("&");
    return location.pathname + (query ? `?${query}` : "");
  }

  /** What the form that keeps weights under a name would send. */
  function keep() {
    const fields = root.querySelector(".keep")?.elements;
    if (!fields) return;
    const parameters = weighting.parameters();
    for (const name of ["weights", "group_weights", "aggregation"]) fields[name].value = parameters.get(name) ?? "";
    fields.policy.value = state.policy === data.policy ? "" : state.policy;
    fields.rule.value = state.rule;
  }

  function watch() {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      changed();
    });
    form.querySelector(".actions [type=submit]").hidden = true; // the board follows by itself
    const { aggregation } = form.elements;
    rule.addEventListener("change", () => {
      state.rule = rule.value;
      changed();
    });
    policy.addEventListener("change", () => {
      state.policy = policy.value;
      changed();
    });
    aggregation?.addEventListener("change", () => form.submit()); // other sliders
    for (const link of root.querySelectorAll("[data-preset]")) {
      link.addEventListener("click", (event) => {
        const parameters = new URL(link.href).searchParams;
        const isSame = (parameters.get("aggregation") ?? data.aggregation) === weighting.aggregation;
        if (!isSame || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        weighting.take(parameters);
        changed();
      });
    }
  }

  /** The search among many tasks, and one step for all that it means. */
  function offerMany() {
    const several = document.getElementById("multiply");
    if (!several) return;
    const { search, factor } = several.elements;
    const count = document.getElementById("search-count");
    const filter = () => {
      const n = sliders.filter(search.value);
      count.textContent = search.value.trim() ? filled(count.dataset.matching, { n }) : "";
    };
    search.addEventListener("input", filter);
    several.addEventListener("submit", (event) => {
      event.preventDefault();
      const by = Number(factor.value.replace(",", "."));
      const isNumber = factor.value.trim() !== "" && by >= 0 && by <= MOST_FACTOR;
      factor.toggleAttribute("aria-invalid", !isNumber);
      if (!isNumber) return factor.setAttribute("aria-invalid", "true");
      const n = sliders.multiply(search.value, by);
      count.textContent = n ? filled(count.dataset.multiplied, { n, factor: factor.value.trim() }) : count.dataset.none;
      for (const { choice } of sliders.items) if (choice) choice.checked = false;
      if (n) changed();
    });
  }

  /** One group or cluster of tasks alone, or all others. */
  function offerRestriction() {
    document.getElementById("restrict")?.addEventListener("submit", (event) => {
      event.preventDefault();
      weighting.restrict(event.target.elements.kin.value, event.submitter?.value === "without");
      changed();
    });
  }

  /** A button that copies the address; where the browser does not let it, the link stays. */
  function offerCopy() {
    if (!navigator.clipboard) return;
    const link = document.getElementById("permalink");
    const label = link.textContent;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "button is-plain is-small", id: "copy-link", textContent: label });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(new URL(here(), location.href).href);
      button.textContent = link.dataset.copied;
      setTimeout(() => (button.textContent = label), 2000);
    });
    link.before(button);
    link.hidden = true;
  }
}
