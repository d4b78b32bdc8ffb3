// The what-if page: sliders set weights, and the board follows at once, ranked here as `ranking_engine` ranks it. What is
// too large or too slow for that is asked of the server when the reader stops. Without this module the page is a form.

import { Contest } from "./rules/catalogue.js";
import { Board } from "./what_if/board.js";
import { Sliders } from "./what_if/sliders.js";
import { Weighting } from "./what_if/weighting.js";

const SETTLE = 500; // milliseconds without a change after which the address, the server and the reader are told
const FRAME = "what-if frame"; // the name of the measures that the browser keeps of the time a frame took
const root = document.getElementById("what-if");
const form = document.getElementById("weights");

if (matchMedia("(max-width: 52rem)").matches) root.querySelector(".weights-pane").open = false;

const answer = await fetch(root.dataset.url);
if (answer.ok) start(await answer.json());

function start(data) {
  const weighting = new Weighting(data, root.dataset.aggregation);
  weighting.take(new URLSearchParams(location.search));
  const contest = data.values && "live" in root.dataset ? new Contest(data) : null;
  const board = new Board(root, data);
  const state = { rule: root.dataset.rule, policy: root.dataset.policy, frame: 0, timer: 0, asked: null };
  const sliders = new Sliders(form, weighting, changed);
  sliders.show();
  watch();

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
    const found = ranked();
    if (found) board.show(found, state.rule);
    board.dim(!found);
    performance.measure(FRAME, { start: started });
  }

  function ranked() {
    if (!contest?.rules.has(state.rule) || weighting.aggregation === "two_step") return null;
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
    state.asked?.abort();
    state.asked = new AbortController();
    try {
      const found = await fetch(address, { signal: state.asked.signal });
      if (!found.ok || here() !== address) return;
      const page = new DOMParser().parseFromString(await found.text(), "text/html");
      if (page.getElementById("outcome") && here() === address) board.adopt(page, { onlySlow: isLive, isLive });
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }

  /** The address of this state: only what differs from the benchmark's own. */
  function here() {
    const stated = weighting.parameters();
    if (state.policy !== data.policy) stated.set("policy", state.policy);
    if (state.rule !== root.dataset.defaultRule) stated.set("rule", state.rule);
    if (root.dataset.revision) stated.set("revision", root.dataset.revision);
    const query = [...stated].filter(([, value]) => value).map(([name, value]) => `${name}=${value}`).join("&");
    return location.pathname + (query ? `?${query}` : "");
  }

  /** What the form that keeps weights under a name would send. */
  function keep() {
    const fields = root.querySelector(".keep")?.elements;
    if (!fields) return;
    const stated = weighting.parameters();
    for (const name of ["weights", "group_weights", "aggregation"]) fields[name].value = stated.get(name) ?? "";
    fields.policy.value = state.policy === data.policy ? "" : state.policy;
    fields.rule.value = state.rule;
  }

  function watch() {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      changed();
    });
    const { rule, policy, aggregation } = form.elements;
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
}
