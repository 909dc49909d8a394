import { alike, type FailureSigns } from './failure-sign.ts';

const NAME_SERVERS = "look at the domain's name servers, with dig +trace";
const RECORD = 'check the spelling of the URL, and the A and AAAA records of the name';
const RESOLVER = 'the operator has to look at the name servers that hookrail asks';
const FIREWALL =
  'look for a firewall, a security group or a route that keeps the addresses of hookrail out: /.well-known/webhook-sources has them';

/** Why a name has no address: the codes of the resolver (c-ares, getaddrinfo), after RFC 1035, section 4.1.1. */
const NAME_SIGNS: FailureSigns = {
  ENOTFOUND: { says: 'the name does not exist', remedy: RECORD },
  ENODATA: { says: 'the name exists, and has no address', remedy: RECORD },
  ...alike(['EBADNAME', 'EBADQUERY', 'EAI_NONAME'], 'this cannot be a name in DNS', RECORD),
  ESERVFAIL: {
    says: "the domain's name servers fail, or its DNSSEC signatures are wrong",
    remedy: NAME_SERVERS,
  },
  EREFUSED: { says: 'the name server refuses the question', remedy: NAME_SERVERS },
  ...alike(
    ['EFORMERR', 'ENOTIMP', 'EBADRESP', 'EBADFAMILY', 'EOF'],
    'the answer of the name server cannot be read',
    NAME_SERVERS,
  ),
  ETIMEOUT: { says: 'no name server answered in time', remedy: NAME_SERVERS },
  ...alike(
    ['EAI_AGAIN', 'ECANCELLED', 'EDESTRUCTION', 'ENOTINITIALIZED', 'ENONAME', 'EFILE'],
    'the name could not be looked up',
    RESOLVER,
  ),
};

/** Why no connection can be opened: the codes of the operating system (POSIX, connect). */
const CONNECT_SIGNS: FailureSigns = {
  ECONNREFUSED: {
    says: 'the connection was refused: nothing listens at this port',
    remedy: 'start the server, or register the port that it listens at',
  },
  ...alike(
    ['ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN', 'EHOSTDOWN'],
    'no network leads to the address',
    'check the A and AAAA records, and that the server is online',
  ),
  EADDRNOTAVAIL: {
    says: 'the address cannot be connected to from here',
    remedy: 'check the A and AAAA records of the name',
  },
  ...alike(['EACCES', 'EPERM'], 'a firewall forbids the connection', FIREWALL),
  ETIMEDOUT: { says: 'the address does not answer', remedy: FIREWALL },
};

export const NETWORK_SIGNS: FailureSigns = { ...NAME_SIGNS, ...CONNECT_SIGNS };
