/** The page addresses of sites that show files, and the address of the same file's text. */
const sites: readonly { readonly page: RegExp; readonly raw: string }[] = [
  { page: /^https:\/\/(?:www\.)?github\.com\/([^/]+)\/([^/]+)\/(?:blob|raw)\/(.+)$/, raw: "https://raw.githubusercontent.com/$1/$2/$3" },
  { page: /^https:\/\/gist\.github\.com\/([^/]+)\/([0-9a-f]+)$/, raw: "https://gist.githubusercontent.com/$1/$2/raw" },
  { page: /^(https:\/\/[^/]+\/.+)\/-\/blob\/(.+)$/, raw: "$1/-/raw/$2" },
  { page: /^https:\/\/bitbucket\.org\/([^/]+)\/([^/]+)\/src\/(.+)$/, raw: "https://bitbucket.org/$1/$2/raw/$3" },
  { page: /^(https:\/\/[^/]+\/[^/]+\/[^/]+)\/src\/((?:branch|tag|commit)\/.+)$/, raw: "$1/raw/$2" },
];

/** The address of a file's text, where a page that shows the file was given: people copy what their browser shows. */
export function rawAddress(address: string): string {
  const url = new URL(address);
  const page = url.origin + url.pathname;
  const site = sites.find((candidate) => candidate.page.test(page));
  return site === undefined ? url.href : page.replace(site.page, site.raw) + url.search;
}
