import createClient from 'openapi-fetch';
import type { paths } from '../../client/generated/merchant-api.ts';
import { ServiceClock } from '../../client/service-clock.ts';
import { type Problem, Refusal, Unreachable } from './refusal.ts';

/** The clock of the service: what is due is counted by it. */
export const clock = new ServiceClock();

let csrfToken = '';

/** Takes the token that requests which change something carry. */
export function takeCsrf(token: string): void {
  csrfToken = token;
}

/** Sends a request with the session of this browser. Throws Refusal or Unreachable. */
export async function exchange(request: Request): Promise<Response> {
  if (request.method !== 'GET') request.headers.set('hookrail-csrf', csrfToken);
  const response = await fetch(request).catch((error: unknown) => {
    throw request.signal.aborted ? error : new Unreachable(error);
  });
  clock.note(response.headers);
  if (!response.ok) throw new Refusal(response, await problemOf(response));
  return response;
}

/** A proxy between here and the service answers with a page of its own. */
async function problemOf(response: Response): Promise<Problem> {
  try {
    const problem: unknown = await response.json();
    return typeof problem === 'object' && problem !== null ? problem : {};
  } catch {
    return {};
  }
}

/** The operations of the merchant API by method and path, typed by openapi.yaml. */
export const rest = createClient<paths>({ baseUrl: location.origin, fetch: exchange });

/** Returns the body of a successful response. */
export async function bodyOf<Body>(answer: Promise<{ readonly data?: Body }>): Promise<NonNullable<Body>> {
  const { data } = await answer;
  if (data === undefined || data === null) throw new Error('The response of the service is empty.');
  return data;
}
