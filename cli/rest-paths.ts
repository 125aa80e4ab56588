/** Commands for requests that messages of the API recommend. `$1` is an id or a name. */
const commands: readonly (readonly [request: RegExp, command: string])[] = [
  [/PUT \/v1\/(?:sources|workflows|webhooks)\/([^\s/]+) and \{"active": true\}/g, "`hw resume $1`"],
  [/POST \/v1\/orgs\/([\w-]+)\/email_confirmation/g, "`hw orgs confirm-email $1`"],
  [/POST \/v1\/users\/me\/email_confirmation/g, "`hw settings --confirm-email`"],
  [/PUT \/v1\/workflows\/([\w-]+)/g, "`hw workflows update $1 -f FILE`"],
  [/GET \/v1\/workflows\/([\w-]+)\/deliveries/g, "`hw workflows sends $1`"],
  [/PUT \/v1\/sources\/([\w-]+)/g, "`hw update $1`"],
  [/POST \/v1\/sources\/([\w-]+)\/runs/g, "`hw run $1`"],
  [/DELETE \/admin\/v1\/components\/registry\/\{key\}@\{version\}/g, "`hw components unpublish`"],
  [/DELETE \/admin\/v1\/users\/([\w-]+)\/resources/g, "`hw admin users delete $1 --resources`"],
  [/POST \/v1\/sources with \{"component_id": "([^"]+)"\}/g, "`hw deploy $1`"],
  [/GET \/v1\/sources\/([\w-]+)/g, "`hw describe $1`"],
  [/GET \/v1\/components\/registry\/([^\s/]+)\/versions/g, "`hw components versions $1 --published`"],
  [/GET \/v1\/components\/registry(?![\w/])/g, "`hw list registry`"],
  [/GET \/v1\/components(?![\w/])/g, "`hw list components`"],
  [/PUT \/v1\/apps\/([\w-]+)/g, "`hw apps update $1 JSON`"],
  [/POST \/v1\/apps(?![\w/])/g, "`hw apps create JSON`"],
  [/POST \/v1\/oauth_clients with (\{.*\})/g, "`hw oauth-clients create '$1'`"],
  [/POST \/v1\/accounts stores them/g, "`hw accounts create` stores them"],
  [/PUT \/v1\/variables\/(\w+)/g, "`hw variables set $1`"],
  [/GET \/v1\/data_stores(?![\w/])/g, "`hw data-stores list`"],
  [/GET \/v1\/accounts(?:\?app=[^\s;,]+)?(?![\w/])/g, "`hw list accounts`"],
];

/** The message with commands in place of requests: a person at a terminal types `hw resume`, not `PUT /v1/sources/…`. */
export const withCommands = (message: string): string =>
  commands.reduce((text, [request, command]) => text.replaceAll(request, command), message);
