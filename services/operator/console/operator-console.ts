import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { brandedFiles } from '../../api/console/branded-files.ts';
import { readConsole } from '../../api/console/files.ts';
import { pageHeaders } from '../../api/console/page-headers.ts';
import { sendFile } from '../../api/console/serve-console.ts';
import { systemNow } from '../../api/context.ts';
import { timestamp } from '../../api/endpoint-json.ts';
import { CSRF_HEADER } from '../../api/portal/portal-auth.ts';
import { OWN_BRAND } from '../../config/console-brand.ts';
import { csrfTokenOf, isCsrfToken } from '../../domain/access/portal-tokens.ts';
import { messageOf } from '../../messages/error-message.ts';
import { FailedAttempts } from '../../process/access/failed-attempts.ts';
import { personOf } from '../../store/change.ts';
import { OperatorError, UsageError } from '../commands/operator-error.ts';
import type { OperatorService } from '../commands/operator-service.ts';
import { operatorNamed } from '../commands/person.ts';
import { BODY_BYTES_MAX, refuseOtherMachines } from '../commands/routes.ts';
import { CONSOLE_COMMANDS, statusHere } from './console-commands.ts';
import { operatorCookie, operatorTokenIn } from './session-cookie.ts';
import { type OperatorSession, OperatorSessions } from './sessions.ts';

/** In the titles of its pages. */
const NAME = 'hookrail operator';
/** Wrong tokens that may be typed in a minute. */
const FAILED_TOKENS_MAX = 5;
const SECOND_MS = 1000;
const REMEDY =
  'open it there, or through a tunnel that ends there (ssh -L 8081:localhost:8081, kubectl port-forward)';

/** A refusal, as the page shows it. */
class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, detail: string, retryAfterSeconds?: number) {
    super(detail);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * The operator's console (docs/decisions.md, "Operator's console"): its page, `/session` to sign in and out, and
 * `POST /api/<command>`, which answers as `--output json` of the command does. Mount it at /console of the operations
 * server.
 */
export function operatorConsole(service: OperatorService): Router {
  const files = brandedFiles(readConsole('operator-console'), { ...OWN_BRAND, name: NAME }, []);
  const sessions = new OperatorSessions(service);
  const json = express.json({ limit: BODY_BYTES_MAX });
  const router = express.Router();
  router.use(refuseOtherMachines('the console answers', REMEDY));
  router.get('/session', answering(service, readSession(service, sessions)));
  router.post('/session', json, answering(service, openSession(service, sessions)));
  router.delete('/session', answering(service, closeSession(sessions)));
  router.post('/api/:command', json, answering(service, runCommand(service, sessions)));
  router.get('{/*path}', pageHeaders(), (request, response, next) => {
    if (request.originalUrl === '/console') return response.redirect(302, '/console/');
    if (!sendFile(files, request.path.slice(1), { request, response })) next();
  });
  return router;
}

type Handler = (request: Request, response: Response) => Promise<unknown>;

/** Sends what a handler returns as JSON, and an error as a problem document (RFC 9457), with an id that the log has. */
function answering({ log, random }: OperatorService, handler: Handler): RequestHandler {
  return async (request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    try {
      response.json(await handler(request, response));
    } catch (error) {
      const { status, code, retryAfterSeconds } = refusalOf(error);
      const requestId = random.uuid();
      const detail = messageOf(error);
      log[status < 500 ? 'info' : 'error']({
        ...{ event: 'operator_console_refused', requestId, code },
        reason: detail,
      });
      if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds);
      response.status(status).type('application/problem+json');
      response.send(JSON.stringify({ status, code, title: TITLES[code], detail, request_id: requestId }));
    }
  };
}

const TITLES: Readonly<Record<string, string>> = {
  operator_session_missing: 'Nobody is signed in',
  operator_session_ended: 'Your session has ended',
  operator_token_wrong: 'The token is wrong',
  operator_name_invalid: 'The name cannot be used',
  too_many_attempts: 'Too many wrong tokens',
  csrf_token_invalid: 'The request does not come from a page of the console',
  command_unknown: 'The console has no such command',
  command_invalid: 'The command cannot mean this',
  command_refused: 'This cannot be done',
  command_failed: 'This did not work',
};

function refusalOf(error: unknown): Pick<Refused, 'status' | 'code' | 'retryAfterSeconds'> {
  if (error instanceof Refused) return error;
  if (error instanceof UsageError)
    return { status: 400, code: 'command_invalid', retryAfterSeconds: undefined };
  if (error instanceof OperatorError)
    return { status: 422, code: 'command_refused', retryAfterSeconds: undefined };
  return { status: 503, code: 'command_failed', retryAfterSeconds: undefined };
}

/** Signs in a person who knows the token, under a name that the audit then has. */
function openSession(service: OperatorService, sessions: OperatorSessions): Handler {
  const failed = new FailedAttempts({ ...service, perMinuteMax: FAILED_TOKENS_MAX });
  return async (request, response) => {
    const { token, person } = (request.body ?? {}) as { readonly token?: unknown; readonly person?: unknown };
    const { remoteAddress = '' } = request.socket;
    const waitMs = failed.refusedForMs(remoteAddress);
    if (waitMs > 0)
      throw new Refused(
        429,
        'too_many_attempts',
        `${FAILED_TOKENS_MAX} wrong tokens a minute are the most: wait for a minute.`,
        Math.ceil(waitMs / SECOND_MS),
      );
    if (!service.isToken(String(token))) {
      failed.count(remoteAddress);
      throw new Refused(
        401,
        'operator_token_wrong',
        'The service has another token: each start makes a new one.',
      );
    }
    const session = sessions.open({ actor: named(String(person ?? '')), isNamed: true });
    service.log.info({ event: 'operator_signed_in', person: personOf(session.person.actor) });
    const seconds = Math.floor((session.expiresAt - systemNow(service.clock)) / SECOND_MS);
    response.setHeader('Set-Cookie', operatorCookie(request, session.token, seconds));
    response.status(201);
    return sessionJson(service, session);
  };
}

function named(person: string) {
  try {
    return operatorNamed(person);
  } catch {
    throw new Refused(400, 'operator_name_invalid', 'Give your name: 1 to 100 visible characters.');
  }
}

function readSession(service: OperatorService, sessions: OperatorSessions): Handler {
  return async (request) => sessionJson(service, sessionIn(request, sessions));
}

function closeSession(sessions: OperatorSessions): Handler {
  return async (request, response) => {
    const session = sessionIn(request, sessions);
    requireCsrf(request, session);
    sessions.end(session);
    response.setHeader('Set-Cookie', operatorCookie(request, '', 0));
    return { ended: true };
  };
}

function runCommand(service: OperatorService, sessions: OperatorSessions): Handler {
  return async (request) => {
    const session = sessionIn(request, sessions);
    requireCsrf(request, session);
    const command = String(request.params.command);
    const by = { ...session.person, logsReads: false };
    if (command === 'status') return statusHere(service, request.socket, by);
    if (!CONSOLE_COMMANDS.has(command))
      throw new Refused(404, 'command_unknown', `The console does not give the command ${command}.`);
    return (await service.run(command, request.body ?? {}, by)) ?? null;
  };
}

function sessionIn(request: Request, sessions: OperatorSessions): OperatorSession {
  const token = operatorTokenIn(request);
  if (token === undefined) throw new Refused(401, 'operator_session_missing', 'The request has no session.');
  const session = sessions.find(token);
  if (session === undefined)
    throw new Refused(401, 'operator_session_ended', 'It was too long, or the service has started again.');
  return session;
}

/** Every command needs it, those that only look as well: a page of another site reads nothing and changes nothing. */
function requireCsrf(request: Request, { token }: OperatorSession): void {
  if (isCsrfToken(token, request.get(CSRF_HEADER))) return;
  throw new Refused(403, 'csrf_token_invalid', `A page of the console sends the header ${CSRF_HEADER}.`);
}

function sessionJson({ environment }: OperatorService, { token, person, expiresAt }: OperatorSession) {
  return {
    environment,
    access: 'write',
    person: personOf(person.actor),
    expires_at: timestamp(expiresAt),
    refresh_url: null,
    csrf_token: csrfTokenOf(token),
  };
}
