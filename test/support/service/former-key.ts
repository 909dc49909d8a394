/** A producer's key as the version made it before keys named an environment: of 32 bytes of 7. */
export const FORMER_KEY = 'pk_1fJjkkpe9PiTw9KSulA8Ghct30vZz4HpdQ5c5b9cPF13o4Q9B';
