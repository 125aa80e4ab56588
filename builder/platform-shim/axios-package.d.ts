/** The part of the npm package axios that the platform's `axios` uses; the package itself is installed with the component. */
declare module "axios" {
  export interface AxiosRequestConfig {
    url?: string;
    method?: string;
    headers?: Record<string, unknown>;
    params?: Record<string, unknown>;
    data?: unknown;
    [option: string]: unknown;
  }
  export interface AxiosResponse {
    readonly data: unknown;
    readonly status: number;
    readonly statusText: string;
    readonly headers: Record<string, unknown>;
  }
  const axios: (config: AxiosRequestConfig) => Promise<AxiosResponse>;
  export default axios;
}
