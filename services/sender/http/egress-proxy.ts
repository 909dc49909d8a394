import { type ClientRequest, request } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { EgressProxy } from '../../egress/egress-proxy.ts';
import type { Clock } from '../../process/clock.ts';
import { ConnectFailure, connectFailureOf } from './connect-failure.ts';

/** A tunnel being opened: `cancel` gives it up, and `opened` rejects. */
export interface Tunnel {
  readonly opened: Promise<Socket>;
  cancel(): void;
}

/**
 * The proxy that connects for the senders. One that hangs answers no CONNECT, nor does one that waits for a silent
 * receiver. So while a CONNECT is unanswered, the proxy is asked something that it must answer by itself.
 */
export class Tunnels {
  readonly #proxy: EgressProxy;
  readonly #clock: Clock;
  /** A CONNECT that is unanswered for this long has the proxy asked, which has as long to answer; milliseconds. */
  readonly #patienceMs: number;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #failing: { readonly what: string; readonly isReachable: boolean; readonly seenAt: number } | null = null;

  /** `timeoutMs`: after which a tunnel that was not opened is given up. */
  private constructor(proxy: EgressProxy, clock: Clock, timeoutMs: number) {
    this.#proxy = proxy;
    this.#clock = clock;
    this.#patienceMs = timeoutMs / 2;
  }

  /**
   * Describes the fault of the proxy, null without one. A proxy that is not reached is asked again from time to time. One
   * that refuses is believed until a CONNECT succeeds, or until none has been tried for a minute.
   */
  get failing(): string | null {
    if (this.#failing === null) return null;
    const ageMs = this.#clock.now() - this.#failing.seenAt;
    if (ageMs > BELIEVED_MS) this.#failing = null;
    else if (ageMs > ASKED_EVERY_MS) this.#ask();
    return this.#failing?.what ?? null;
  }

  /** Returns the tunnels of a sender; null where there is no proxy. */
  static through(proxy: EgressProxy | null, clock: Clock, timeoutMs: number): Tunnels | null {
    return proxy && new Tunnels(proxy, clock, timeoutMs);
  }

  /** Returns the failure of a CONNECT that was asked at `askedAt` and has waited for a whole time-out without an answer. */
  unanswered(askedAt: number): ConnectFailure {
    if (this.#answeredAt < askedAt) return this.#ours('does not answer', false);
    return new ConnectFailure('connect_timeout', 'the connection was not established in time', {
      sign: 'silent',
    });
  }

  /**
   * Asks the proxy to connect to an address (CONNECT, RFC 9110 §9.3.6). The proxy gets an address that was checked here,
   * never a name: its own resolution could lead elsewhere. Rejects with a ConnectFailure: a failure of the proxy itself
   * is our own fault and costs no attempt; a target that it cannot or may not reach is the receiver's.
   */
  open(address: string, port: number): Tunnel {
    const target = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
    const asked = this.#request('CONNECT', target, { Host: target });
    const stopWaiting = this.#clock.at(this.#clock.now() + this.#patienceMs, () => this.#ask());
    let isCancelled = false;
    const opened = new Promise<Socket>((resolve, reject) => {
      asked.once('connect', ({ statusCode = 0, headers }, socket, head) => {
        this.#answered();
        const isOpen = statusCode >= 200 && statusCode < 300;
        // A TLS server sends nothing first: bytes that come with the proxy's response are not from the receiver.
        if (isOpen && head.length === 0) {
          this.#failing = null;
          return resolve(socket);
        }
        socket.destroy();
        const isBusy = headers['retry-after'] !== undefined;
        reject(isOpen ? this.#ours('sent data after its response') : this.#refusal(statusCode, isBusy));
      });
      asked.once('response', (response) => {
        this.#answered();
        response.destroy();
        reject(this.#refusal(response.statusCode ?? 0, response.headers['retry-after'] !== undefined));
      });
      asked.once('error', (error: NodeJS.ErrnoException) => {
        reject(isCancelled ? new ConnectFailure('connection_reset', 'closed') : this.#failureOf(error));
      });
      asked.once('close', stopWaiting);
    });
    asked.end();
    const cancel = () => {
      isCancelled = true;
      asked.destroy();
    };
    return { opened, cancel };
  }

  /** The final recipient of Max-Forwards: 0 is the proxy itself (RFC 9110 §7.6.2). A refusal is as good an answer. */
  #ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const asked = this.#request('OPTIONS', '*', { Host: this.#where, 'Max-Forwards': '0' });
    let isLate = false;
    const stopWaiting = this.#clock.at(this.#clock.now() + this.#patienceMs, () => {
      isLate = true;
      asked.destroy();
    });
    const heard = (status: number) => {
      if (this.#failing === null) return;
      if (status === UNAUTHORIZED) this.#ours(`answered ${status}`);
      else if (!this.#failing.isReachable) this.#failing = null;
    };
    asked.once('response', (response) => {
      this.#answered();
      heard(response.statusCode ?? 0);
      response.destroy();
    });
    asked.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? '';
      if (!isLate && !SILENT.has(code)) this.#answered();
      if (!isLate && !NOT_REACHED.has(code)) heard(0);
      else if (this.#failing) this.#ours(isLate ? 'does not answer' : `cannot be used: ${code}`, false);
    });
    asked.once('close', () => {
      stopWaiting();
      this.#isAsking = false;
    });
    asked.end();
  }

  #answered(): void {
    this.#answeredAt = this.#clock.now();
  }

  #request(method: string, path: string, headers: Readonly<Record<string, string>>): ClientRequest {
    const { host, port, authorization } = this.#proxy;
    const credentials = authorization === null ? {} : { 'Proxy-Authorization': authorization };
    return request({ host, port, method, path, agent: false, headers: { ...headers, ...credentials } });
  }

  get #where(): string {
    const { host, port } = this.#proxy;
    return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  }

  /**
   * Classifies a refusal. Only an answer about the address is the receiver's: 502, 503, 504 (the proxy tried, RFC 9110
   * §15.6), 403 and 451 (it may not). All others are about us or the proxy, such as 400, 405, 407 and 429, and so is a 503
   * that says when to come again. None of them shows that a receiver was reached.
   */
  #refusal(status: number, isBusy: boolean): ConnectFailure {
    const failure = this.#verdict(status, isBusy);
    if (failure === null) return this.#ours(`answered ${status}`);
    this.#failing = null;
    return failure;
  }

  #verdict(status: number, isBusy: boolean): ConnectFailure | null {
    if (status === 504) {
      return new ConnectFailure('connect_timeout', 'the egress proxy did not reach the address in time', {
        sign: 'silent',
      });
    }
    if (status === 502 || (status === 503 && !isBusy)) {
      return new ConnectFailure('connect_refused', `the egress proxy did not reach the address (${status})`, {
        sign: 'silent',
      });
    }
    // One that refuses every address has something against us: then it is the network that is down.
    if (status === 403 || status === 451) {
      return new ConnectFailure(
        'connect_refused',
        `the egress proxy refused to connect to the address (${status})`,
        { sign: 'silent' },
      );
    }
    return null;
  }

  #failureOf(error: NodeJS.ErrnoException): ConnectFailure {
    const failure = connectFailureOf(error);
    if (failure.facts.ownFault) return failure;
    const code = error.code ?? error.message;
    return this.#ours(`cannot be used: ${code}`, !NOT_REACHED.has(code));
  }

  /** Names the proxy's address: operators read it, merchants do not. */
  #ours(what: string, isReachable = true): ConnectFailure {
    const detail = `the egress proxy at ${this.#where} ${what}`;
    this.#failing = { what: detail, isReachable, seenAt: this.#clock.now() };
    return new ConnectFailure('connect_refused', detail, {
      ownFault: 'egress_proxy',
      sign: 'unknown',
    });
  }
}

/** Of a proxy's host that is silent itself, or of its name's servers. */
const SILENT: ReadonlySet<string> = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
/** Of a connection that was not opened. */
const NOT_REACHED: ReadonlySet<string> = new Set([...SILENT, 'ECONNREFUSED', 'ENOTFOUND']);
const UNAUTHORIZED = 407;
/** The proxy is asked again, while it is not reached, when somebody wants to know and this time has passed. */
const ASKED_EVERY_MS = 1000;
/** A fault that the proxy answers with is believed for so long, milliseconds. */
const BELIEVED_MS = 60_000;
