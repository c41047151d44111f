"use strict";
// The OpenAPI description as a page: every path, what it takes, and what it answers.
const element = (tag, text, className) => {
  const out = document.createElement(tag);
  if (text !== undefined) out.textContent = text;
  if (className) out.className = className;
  return out;
};

const named = (schema) => (schema && schema.$ref ? schema.$ref.split("/").pop() : null);

function shown(schemas, media) {
  const parts = element("div");
  for (const [kind, { schema }] of Object.entries(media)) {
    const name = named(schema);
    const details = element("details");
    details.append(element("summary", name ? `${kind}: ${name}` : kind));
    details.append(element("pre", JSON.stringify(name ? schemas[name] : schema, null, 2)));
    parts.append(details);
  }
  return parts;
}

async function start() {
  const api = await (await fetch("/openapi.json")).json();
  const schemas = api.components.schemas;
  document.getElementById("about").textContent = `adaline ${api.info.version}. ${api.info.description}`;
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, one] of Object.entries(methods)) {
      const article = element("article");
      const title = element("h2");
      title.append(element("span", method.toUpperCase(), "method"), path);
      article.append(title, element("p", `${one.summary}.`));
      for (const option of (one.parameters || []).filter((each) => each.in === "query")) {
        article.append(element("p", `?${option.name}= ${option.description}`, "faint"));
      }
      if (one.requestBody) article.append(element("p", "Takes", "faint"), shown(schemas, one.requestBody.content));
      article.append(element("p", "Answers", "faint"), shown(schemas, one.responses["200"].content));
      const errors = Object.entries(one.responses).filter(([status]) => status !== "200");
      const details = element("details");
      details.append(element("summary", `errors: ${errors.map(([status]) => status).join(", ")}`));
      for (const [status, answer] of errors) details.append(element("p", `${status}: ${answer.description}`, "faint"));
      article.append(details);
      document.getElementById("paths").append(article);
    }
  }
}
start();
