/**
 * What was seen of public components and what becomes of it here. The counts are of what was read, not of the whole repository; only what a test
 * shows is called tried.
 */
export const publicComponents = `## Components of the public registry

Of PipedreamHQ/pipedream, \`components/\`, some was read on 2026-11-22 to learn what components ask of a platform: 26
sources and bases of sources as a whole (of 20 apps), 7 app files (3 more in part), 22 package.json files, and about 110
further sources and apps in parts, among them deliberately such as look unusual. The repository is not free software, so
none of it is here, and none of it was run: each form was tried with components of our own, in
[\`fixtures/families\`](../fixtures/families) (18 apps with 20 sources, deployed, registered, called and deleted against
doubles of their services by \`test/e2e/component-families.full.test.ts\`, \`component-clients.full.test.ts\` and
\`a-service-verifies-the-endpoint-of-a-source.test.ts\`) and in the tests of the builder and the sandbox.

| form | here |
|---|---|
| \`import\` and \`require\` by relative paths, with and without extension, \`.mjs\`, \`.js\`, \`.ts\`, JSON; TypeScript that imports types without saying so | works |
| \`export default {…}\`, \`module.exports\`, \`defineApp\`, \`defineSource\` | works |
| CommonJS that assigns to undeclared names | works where all files of the component are CommonJS, and in packages |
| CommonJS packages with code that strict mode refuses: reserved words as names, \`with\`, two parameters of one name | work, and then nothing in the bundle is strict; not beside an \`await\` at the component's top level |
| default and named imports of CommonJS packages, paths into packages (\`lodash/get.js\`), \`package.json\` beside the app | works |
| \`@pipedream/platform\`: \`axios\`, \`ConfigurationError\`, \`DEFAULT_POLLING_SOURCE_TIMER_INTERVAL\`; \`@pipedreamhq/platform\`; \`@pipedream/types\` | our own |
| \`@pipedream/<app>\`, also paths into it | from npm, where it has the package |
| \`require("https://github.com/…")\`, in sources of 2020 | refused: send the app as a file, or use its newer version |
| bases that are spread, \`methods\` and \`hooks\` taken from them, \`base.hooks.activate.call(this)\`, methods as callbacks, a method \`run\` or \`activate\` | works |
| \`propDefinition\` with functions of other props, \`options\` with \`page\`, \`prevContext\`, \`query\`; choices that are numbers for a \`string\` | works |
| \`additionalProps\` that choose \`$.interface.http\` or \`$.interface.timer\`, or give back what they were given | works |
| \`$.service.db\` by any name, several; \`$.interface.timer\` with \`default\`, \`static\`, \`hidden\`, cron; \`$.interface.http\` as a text or with \`customResponse\`; \`alert\` | works |
| \`$.interface.apphook\` with \`eventNames\` as a list or a function | loads; events come by a subscription or \`POST /runs\`, since an app's own event stream is not here |
| \`$.airtable.tableId\`, \`$.discord.channel[]\` and the like | the value comes from the user who configures the source |
| services that ask the endpoint while \`activate\`, or a tick that renews, registers it | works |
| form bodies by flat names (\`body["data[id]"]\`), JSON as \`text/plain\`, signatures over \`bodyRaw\` | works |
| ids that are no numbers under \`dedupe: "greatest"\` (one source seen uses ISO dates) | an error of the run that names the emit |

The package.json files and imports that were read name 107 packages with code, most in versions of their time. All were
tried, 83 in the versions asked for and 24 in those of the tables above: 106 load and have what is imported, one is
native code (\`@aws-sdk/signature-v4-crt\`). Loading is all that was tried of \`@google-cloud/pubsub\`, \`logging\`, \`compute\`
and \`bigquery-data-transfer\`, which speak gRPC over HTTP/2 unless configured otherwise, of \`snowflake-sdk\`, and of
\`puppeteer-core\` and \`@sparticuz/chromium\`, which want a browser.
`;
