/** The shape of `node:path`, in either spelling of paths. */
export interface PathModule {
  readonly sep: string;
  readonly delimiter: string;
  normalize(path: string): string;
  join(...paths: string[]): string;
  resolve(...paths: string[]): string;
  relative(from: string, to: string): string;
  parse(path: string): PathParts;
  format(parts: Partial<PathParts>): string;
  isAbsolute(path: string): boolean;
  basename(path: string, suffix?: string): string;
  dirname(path: string): string;
  extname(path: string): string;
  toNamespacedPath(path: string): string;
  matchesGlob(path: string, pattern: string): boolean;
  posix?: PathModule;
  win32?: PathModule;
}

export interface PathParts {
  root: string;
  dir: string;
  base: string;
  ext: string;
  name: string;
}
