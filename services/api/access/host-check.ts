import type { RequestHandler } from 'express';
import { HostNames, shownHost } from '../../process/access/host-names.ts';
import { isFromHere } from '../../process/access/this-machine.ts';
import type { Environment } from '../auth.ts';
import type { ClientAddress } from '../client-address.ts';
import { ApiError } from '../problem.ts';

/**
 * Refuses requests to a sandbox from its own machine under a name that is not the sandbox's: a web page which a browser
 * there has open must not reach it (DNS rebinding). Production stands behind a proxy that has its name.
 */
export function refuseForeignNames({
  environment,
  clientAddress,
  names,
}: {
  readonly environment: Environment;
  readonly clientAddress: ClientAddress;
  readonly names: readonly string[];
}): RequestHandler {
  const known = new HostNames(names);
  return (request, _response, next) => {
    const { host } = request.headers;
    const isHere = isFromHere(clientAddress(request), request.socket.localAddress);
    if (environment === 'sandbox' && isHere && !known.has(host, { allowsShort: true })) {
      throw new ApiError('unknown_host', `The sandbox does not answer to "${shownHost(host)}".`);
    }
    next();
  };
}
