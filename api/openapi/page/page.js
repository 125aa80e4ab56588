/*
 * Reads /v1/openapi.json and shows its operations, each with a form that sends a request. All text becomes text nodes: nothing that
 * is read or answered is taken for markup. The key stays in its field.
 */

const api = await (await fetch("/v1/openapi.json")).json();
const keyField = document.getElementById("key");
const findField = document.getElementById("find");

/** An element with properties and children; texts become text nodes. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** What a reference stands for. */
function resolve(value) {
  if (value?.$ref === undefined) return value;
  return value.$ref
    .slice(2)
    .split("/")
    .reduce((at, name) => at[name], api);
}

/** One line for a type: `string`, `Source`, `array of Prop`, `a | b`. */
function typeOf(schema) {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" | ");
  if (schema.type === "array") return `array of ${typeOf(schema.items ?? {})}`;
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  return schema.type ?? "any";
}

/** The fields of an object, a line each, with those of the objects within. */
function fieldLines(schema, indent = "") {
  const { properties = {}, required = [] } = resolve(schema);
  return Object.entries(properties).flatMap(([name, field]) => {
    const told = field.description ?? "";
    const line = `${indent}${name}${required.includes(name) ? "" : "?"}: ${typeOf(field)}${told === "" ? "" : `  — ${told}`}`;
    const within = field.type === "array" ? field.items : (field.anyOf?.find(({ type }) => type !== "null") ?? field);
    return indent.length > 6 ? [line] : [line, ...fieldLines(within ?? {}, `${indent}  `)];
  });
}

/** A body to begin with: what must be there, each with a value of its type. */
function draftOf({ properties = {}, required = [] }) {
  const draft = Object.fromEntries(required.map((name) => [name, emptyOf(properties[name])]));
  return JSON.stringify(draft, null, 2);
}

function emptyOf(schema) {
  const { type, enum: values, anyOf } = resolve(schema);
  if (values !== undefined) return values[0];
  if (anyOf !== undefined) return emptyOf(anyOf[0]);
  return { string: "", integer: 0, number: 0, boolean: false, array: [], object: {} }[type] ?? null;
}

function parameterRow(parameter) {
  const { name, in: place, required = false, description = "", schema } = parameter;
  const input = element("input", { name, required, title: typeOf(schema), placeholder: typeOf(schema) });
  input.dataset.place = place;
  return element(
    "tr",
    {},
    element("td", {}, element("label", {}, element("code", {}, name), required ? " *" : "", element("br"), input)),
    element("td", { className: "quiet" }, place),
    element("td", {}, description),
  );
}

function answerLine([status, answer]) {
  const { description, content = {} } = resolve(answer);
  const [type, media] = Object.entries(content)[0] ?? ["nothing", {}];
  const lines = type === "application/json" && status < "400" ? fieldLines(media.schema) : [];
  const head = element("p", {}, element("code", {}, status), ` ${description} `, element("span", { className: "quiet" }, type));
  return element("div", {}, head, lines.length === 0 ? undefined : element("pre", {}, lines.join("\n")));
}

/** What the form says: address, headers, body. */
function requestOf(method, path, form) {
  let address = path;
  const query = new URLSearchParams();
  const headers = keyField.value === "" ? {} : { authorization: `Bearer ${keyField.value}` };
  for (const { name, value, dataset } of form.querySelectorAll("input")) {
    if (dataset.place === "path") address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== "" && dataset.place === "query") query.append(name, value);
    else if (value !== "" && dataset.place === "header") headers[name] = value;
  }
  const body = form.querySelector("textarea")?.value.trim() ?? "";
  if (body !== "") headers["content-type"] = "application/json";
  const search = query.size === 0 ? "" : `?${query}`;
  return { address: `${api.servers[0].url}${address}${search}`, request: { method, headers, ...(body === "" ? {} : { body }) } };
}

/** Shows an answer as it comes, since a stream does not end; the text of JSON is laid out when it is whole. */
async function show(response, output) {
  output.textContent = `${response.status} ${response.statusText}\n\n`;
  const head = output.textContent;
  let text = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    output.append(part);
  }
  if ((response.headers.get("content-type") ?? "").includes("json")) output.textContent = head + JSON.stringify(JSON.parse(text), null, 2);
}

function sendOn(form, method, path) {
  const output = element("pre", { hidden: true });
  output.setAttribute("aria-live", "polite");
  const stop = element("button", { type: "button", hidden: true }, "Stop");
  let sending = new AbortController();
  stop.addEventListener("click", () => sending.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    sending.abort();
    sending = new AbortController();
    const { signal } = sending;
    const { address, request } = requestOf(method, path, form);
    output.hidden = stop.hidden = false;
    output.textContent = `${method} ${address} …`;
    try {
      await show(await fetch(address, { ...request, signal }), output);
    } catch (error) {
      if (!signal.aborted) output.append(`\n${String(error)}`);
    } finally {
      if (sending.signal === signal) stop.hidden = true;
    }
  });
  form.append(element("button", {}, "Send"), stop, output);
}

function operationView(method, path, operation) {
  const { summary = "", description, parameters = [], requestBody, responses = {} } = operation;
  const body = requestBody?.content["application/json"].schema;
  const form = element("form", {}, description === undefined ? undefined : element("p", {}, description));
  if (parameters.length > 0) form.append(element("table", {}, element("tbody", {}, ...parameters.map(resolve).map(parameterRow))));
  if (body !== undefined) {
    const draft = element("textarea", { rows: 6, spellcheck: false, value: draftOf(body) });
    form.append(element("p", {}, "Body ", element("span", { className: "quiet" }, requestBody.description ?? "")));
    form.append(element("pre", {}, fieldLines(body).join("\n")), element("label", {}, "JSON", draft));
  }
  sendOn(form, method, path);
  form.append(element("p", { className: "quiet" }, "Answers"), ...Object.entries(responses).map(answerLine));
  const name = element("code", {}, element("span", { className: "method" }, method), path);
  const view = element("details", {}, element("summary", {}, name, " ", element("span", {}, summary)), form);
  view.dataset.text = `${method} ${path} ${summary}`.toLowerCase();
  return view;
}

function sections() {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return api.tags.map(({ name }) => {
    const views = operations
      .filter(({ operation }) => operation.tags?.includes(name))
      .map(({ method, path, operation }) => operationView(method, path, operation));
    return element("section", {}, element("h2", {}, name), ...views);
  });
}

document.getElementById("operations").replaceChildren(element("p", {}, api.info.description), ...sections());
findField.addEventListener("input", () => {
  const words = findField.value.toLowerCase().split(/\s+/);
  for (const view of document.querySelectorAll("details")) view.hidden = !words.every((word) => view.dataset.text.includes(word));
});
