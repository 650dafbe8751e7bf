/** Sends one HTTP request of a test, and returns the whole answer. */

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape, which each test knows
  json: any;
}

export interface HttpRequest {
  /** Default: POST with a body, else GET. */
  method?: string | undefined;
  token?: string | null | undefined;
  headers?: Record<string, string>;
  /** A string is sent unchanged. */
  body?: unknown;
  signal?: AbortSignal;
}

export async function httpCall(
  url: string,
  { method, token, headers = {}, body, signal }: HttpRequest,
): Promise<HttpAnswer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
