// Ten scripts with the types that openapi-typescript makes: `node scripts.js URL TOKEN KEY`. They compile under --strict
// without a cast, and print what they got as JSON, by script.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const [url, token, key] = process.argv.slice(2) as [string, string, string];
const anyone = createClient<paths>({ baseUrl: url });
const owner = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
const path = { key };
const submitted_body: components["schemas"]["SubmissionBody"] = {
  systems: [{ name: "Newer", scores: { "task-1": 9.25, "task-2": 1 } }],
  create_systems: true,
  note: "A try.",
};

function there<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const scripts = {
  async pages() {
    const keys: string[] = [];
    let cursor: string | undefined;
    for (;;) {
      const query = cursor === undefined ? { page_size: 1 } : { page_size: 1, cursor };
      const page = there(await owner.GET("/api/v1/benchmarks/", { params: { query } }));
      keys.push(...page.results.map((one) => one.key));
      if (page.next === null) return { keys: keys.sort(), count: page.count };
      cursor = new URL(page.next).searchParams.get("cursor") ?? undefined;
    }
  },
  async one_ranking() {
    const params = { path: { key, rule: "borda" } };
    const page = there(await anyone.GET("/api/v1/benchmarks/{key}/rankings/{rule}/", { params }));
    return Object.fromEntries(page.results.map((one) => [one.system, one.rank]));
  },
  async table() {
    const address = "/api/v1/files/benchmarks/{key}/scores/";
    const text = there(await anyone.GET(address, { params: { path }, parseAs: "text" }));
    const lines = text.trim().split(/\r?\n/);
    const page = there(await anyone.GET("/api/v1/benchmarks/{key}/scores/", { params: { path } }));
    return { rows: lines.length - 1, results: page.results.length, columns: (lines[0] ?? "").split(",") };
  },
  async whole_board() {
    const page = there(await anyone.GET("/api/v1/benchmarks/{key}/board/", { params: { path } }));
    return { rules: page.rules.map((one) => one.key).sort(), systems: page.systems.map((one) => one.name) };
  },
  async pair() {
    const params = { path, query: { a: "a", b: "b" } };
    return there(await anyone.GET("/api/v1/benchmarks/{key}/head-to-head/", { params })).tasks.length;
  },
  async weighted() {
    const params = { path: { key, rule: "borda" } };
    const body = { weights: { "task-1": 3, "task-2": "1/2" } };
    return there(await anyone.POST("/api/v1/benchmarks/{key}/rankings/{rule}/", { params, body })).status;
  },
  async dry_run() {
    const params = { path, query: { dry_run: true } };
    const preview = there(await owner.POST("/api/v1/benchmarks/{key}/submissions/", { params, body: submitted_body }));
    if ("uuid" in preview) throw new Error("it was stored");
    return { accepted: preview.would_be_accepted, names: preview.systems.map((one) => one.name) };
  },
  async submitted() {
    const params = { path, header: { "Idempotency-Key": "run-2" } };
    const send = () => owner.POST("/api/v1/benchmarks/{key}/submissions/", { params, body: submitted_body });
    const [first, again] = [there(await send()), there(await send())];
    if (!("uuid" in first && "uuid" in again)) throw new Error("it was not stored");
    const list = there(await owner.GET("/api/v1/me/submissions/", { params: { query: { benchmark: key } } }));
    const status = there(await owner.GET("/api/v1/submissions/{uuid}/", { params: { path: { uuid: first.uuid } } }));
    return {
      is_one: first.uuid === again.uuid,
      state: status.state,
      listed: list.results.some((one) => one.uuid === first.uuid),
      who: there(await owner.GET("/api/v1/me/")).name !== "",
    };
  },
  async imported() {
    const body = { files: [{ name: "scores.csv", text: "model,task-1\nNew,9.5\n" }] };
    const params = { path, query: { dry_run: true } };
    const preview = there(await owner.POST("/api/v1/benchmarks/{key}/imports/", { params, body }));
    if ("uuid" in preview) throw new Error("it was stored");
    return preview.columns.map((one) => one.assigned);
  },
  async hosted() {
    const body = { name: "Made there", tasks: [{ name: "QA", weight: "0.5" }] };
    const made = there(await owner.POST("/api/v1/benchmarks/", { body }));
    const params = { path: { key: made.key } };
    const changed = there(await owner.PATCH("/api/v1/benchmarks/{key}/", { params, body: { tags: ["made"] } }));
    const tasks = there(await owner.GET("/api/v1/benchmarks/{key}/tasks/", { params }));
    return { tags: changed.tags, tasks: tasks.results.map((one) => one.name) };
  },
  async refused() {
    const body = { systems: [{ name: "X", scores: {} }] };
    const wrong = await owner.POST("/api/v1/benchmarks/{key}/submissions/", { params: { path }, body });
    const nobody = await createClient<paths>({ baseUrl: url, headers: { Authorization: "Bearer none" } }).GET("/api/v1/me/");
    return [wrong.error !== undefined && wrong.error.error.details.length > 0, nobody.response.status === 401];
  },
  async archive() {
    const answer = await anyone.GET("/api/v1/benchmarks/{key}/folder/", { params: { path }, parseAs: "arrayBuffer" });
    return new TextDecoder().decode(new Uint8Array(there(answer)).slice(0, 2));
  },
};

const found: Record<string, unknown> = {};
for (const [name, script] of Object.entries(scripts)) found[name] = await script();
console.log(JSON.stringify(found));
