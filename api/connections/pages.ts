import type { ConnectionProblem } from "../../domain/connection/connection.ts";
import { callbackPath } from "../oauth-clients/client.ts";

export interface Page {
  readonly status: number;
  readonly html: string;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);

const page = (status: number, title: string, body: string, head = ""): Page => ({
  status,
  html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${head}<title>${escaped(title)}</title></head>
<body><main><h1>${escaped(title)}</h1>
${body}
</main></body></html>
`,
});

/** The browser loads the page again from this site, and then sends the session's cookie. */
export const continuePage = (address: string): Page =>
  page(
    200,
    "Connecting",
    `<p><a href="${escaped(address)}">Continue</a>, if this page stays.</p>`,
    `<meta http-equiv="refresh" content="0; url=${escaped(address)}">`,
  );

interface Hidden {
  readonly state: string;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly issuer: string | undefined;
  /** Shows that the request comes from this page. */
  readonly confirm: string;
}

/** Names the user who gets the account: a person whom another one has sent here sees it. */
export function confirmPage(app: string, user: string, { state, code, error, issuer, confirm }: Hidden): Page {
  const fields = Object.entries({ state, code, error, iss: issuer, confirm }).flatMap(([name, value]) =>
    value === undefined ? [] : [`<input type="hidden" name="${name}" value="${escaped(value)}">`],
  );
  return page(
    200,
    `Connect ${app}`,
    `<p>Headwater will store this account of ${escaped(app)} for <strong>${escaped(user)}</strong>, who can then act in its name.</p>
<p>If you are not ${escaped(user)}, or did not begin this, close this page: nothing is stored.</p>
<form method="post" action="${callbackPath}">${fields.join("")}<button>Connect the account</button></form>`,
  );
}

export function connectedPage(app: string, missingScopes: readonly string[]): Page {
  const missing =
    missingScopes.length === 0
      ? ""
      : `<p>These scopes were not granted: ${missingScopes.map((scope) => `<code>${escaped(scope)}</code>`).join(", ")}. What needs them will fail: connect the account again to grant them.</p>\n`;
  return page(200, `${app} is connected`, `${missing}<p>You can close this page. <a href="/accounts">Show the accounts</a></p>`);
}

export const failedPage = (app: string, { message }: Pick<ConnectionProblem, "message">): Page =>
  page(
    400,
    `${app} is not connected`,
    `<p>${escaped(message.charAt(0).toUpperCase() + message.slice(1))}.</p>\n<p><a href="/accounts">Show the accounts</a></p>`,
  );
