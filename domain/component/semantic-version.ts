/** `major.minor.patch`, and what follows `-`: https://semver.org, without build metadata, which does not order versions. */
export interface SemanticVersion {
  readonly release: readonly [string, string, string];
  /** Identifiers between dots; empty for a release. */
  readonly prerelease: readonly string[];
}

const maxLength = 64;
const number = "(?:0|[1-9][0-9]{0,15})";
const identifier = `(?:${number}|[0-9]{0,16}[A-Za-z-][0-9A-Za-z-]*)`;
const form = new RegExp(`^(${number})\\.(${number})\\.(${number})(?:-(${identifier}(?:\\.${identifier})*))?$`);

/** Undefined if the text is not a semantic version, has build metadata, or has more than 64 characters. */
export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  if (text.length > maxLength) return undefined;
  const [, major, minor, patch, prerelease] = form.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { release: [major, minor, patch], prerelease: prerelease === undefined ? [] : prerelease.split(".") };
}

/** Precedence by semver.org, section 11: negative if `a` is older. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  const release = compareLists(a.release, b.release, compareNumbers);
  if (release !== 0) return release;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  return compareLists(a.prerelease, b.prerelease, compareIdentifiers);
}

/** The longer of two lists with the same beginning is newer. */
function compareLists(a: readonly string[], b: readonly string[], compare: (a: string, b: string) => number): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compare(part, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const isNumber = (text: string): boolean => /^[0-9]+$/.test(text);

/** Numbers are older than words. */
function compareIdentifiers(a: string, b: string): number {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return compareTexts(a, b);
}

/** Without leading zeros, so a longer number is larger. */
const compareNumbers = (a: string, b: string): number => (a.length === b.length ? compareTexts(a, b) : a.length - b.length);

const compareTexts = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** A published version, as far as it decides which one is current. */
interface Candidate {
  readonly version: string;
  /** Why it is deprecated; null: it is not. */
  readonly deprecated: string | null;
}

/**
 * The version that a key stands for: the newest that is not deprecated, releases before prereleases. If all are deprecated, the newest.
 */
export function currentVersion<Version extends Candidate>(versions: readonly Version[]): Version | undefined {
  const parsed = versions.flatMap((of) => {
    const version = parseSemanticVersion(of.version);
    return version === undefined ? [] : [{ of, version }];
  });
  const rank = ({ of, version }: (typeof parsed)[number]): number =>
    (of.deprecated === null ? 2 : 0) + (version.prerelease.length === 0 ? 1 : 0);
  return parsed.toSorted((a, b) => rank(b) - rank(a) || compareVersions(b.version, a.version))[0]?.of;
}
