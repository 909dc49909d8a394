// WEBHOOK_SECRET=whsec_… PORT=8000 go run receiver.go   (Go 1.20; then: hookrail sim listen --forward-to 8000)
// WEBHOOK_KEYS=https://…/.well-known/webhook-keys as well, or a file of it: the signature v1a must be right, too.
package main

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var secrets = strings.Fields(os.Getenv("WEBHOOK_SECRET")) // while a secret is rotated: "whsec_new… whsec_old…"
var seen = map[string]bool{}    // in production: a table with a unique column, which outlives a restart
var latest = map[string]int64{} // the highest sequence of each thing; in production: a column beside its state
var mutex sync.Mutex
var note sync.Once
var place = os.Getenv("WEBHOOK_KEYS")
var asked time.Time
var public []ed25519.PublicKey
var keysMutex sync.Mutex

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	id, sent := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	signed, passed := false, false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, keyOf(secret))
		fmt.Fprintf(mac, "%s.%s.%s", id, sent, body)
		signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, each := range strings.Fields(r.Header.Get("webhook-signature")) {
			signed = hmac.Equal([]byte(each), []byte(signature)) || signed
		}
		passed = r.Header.Get("authorization") == "API-Key "+secret || passed
	}
	if place != "" {
		signed = signed && ofPlatform([]byte(id+"."+sent+"."+string(body)), strings.Fields(r.Header.Get("webhook-signature")))
	}
	seconds, _ := strconv.ParseInt(sent, 10, 64)
	fresh := time.Since(time.Unix(seconds, 0)).Abs() < 5*time.Minute
	if err != nil || !signed || !fresh {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Println("refused", id, map[bool]string{true: "too old", false: "another secret or key, or a changed body"}[signed])
		return
	}
	if !passed {
		note.Do(func() { noteAuthorization(r.Header.Get("authorization") != "") })
	}
	var event struct{ Type string }
	json.Unmarshal(body, &event)
	sequence, missing := strconv.ParseInt(r.Header.Get("webhook-sequence"), 10, 64)
	result := remember(id, event.Type+" "+r.Header.Get("webhook-subject-id"), sequence, missing == nil)
	w.Header().Set("webhook-result", result)
	go handle(result, id, event.Type) // returning answers 200: answer first, work afterwards
}

func remember(id, about string, sequence int64, numbered bool) string {
	mutex.Lock()
	defer mutex.Unlock()
	if seen[id] { // a webhook may come more than once
		return "repeated"
	}
	seen[id] = true
	if numbered && sequence < latest[about] { // a newer one came first: do not apply this one
		return "older"
	}
	if numbered {
		latest[about] = sequence
	}
	return "applied"
}

// No key fits: perhaps there is a new one. It is looked for at most once a minute.
func ofPlatform(message []byte, signatures []string) bool {
	for _, age := range []time.Duration{5 * time.Minute, time.Minute} {
		for _, key := range publicKeys(age) {
			for _, each := range signatures {
				encoded, found := strings.CutPrefix(each, "v1a,")
				signature, err := base64.StdEncoding.DecodeString(encoded)
				if found && err == nil && ed25519.Verify(key, message, signature) {
					return true
				}
			}
		}
	}
	return false
}

func publicKeys(ageMax time.Duration) []ed25519.PublicKey {
	keysMutex.Lock()
	defer keysMutex.Unlock()
	if time.Since(asked) > ageMax {
		asked = time.Now()
		if keys, err := readKeys(); err == nil { // unreachable: those that are known
			public = keys
		}
	}
	return public
}

func readKeys() ([]ed25519.PublicKey, error) {
	text, err := readPlace()
	var set struct{ Keys []struct{ Crv, X string } }
	if err == nil {
		err = json.Unmarshal(text, &set)
	}
	var keys []ed25519.PublicKey
	for _, key := range set.Keys {
		x, wrong := base64.RawURLEncoding.DecodeString(key.X)
		if key.Crv == "Ed25519" && wrong == nil && len(x) == ed25519.PublicKeySize {
			keys = append(keys, x)
		}
	}
	return keys, err
}

func readPlace() ([]byte, error) {
	if !strings.HasPrefix(place, "http") {
		return os.ReadFile(place)
	}
	response, err := (&http.Client{Timeout: 5 * time.Second}).Get(place)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", place, response.StatusCode)
	}
	return io.ReadAll(response.Body)
}

// The signature proves more than Authorization, which some servers keep to themselves.
func noteAuthorization(another bool) {
	fmt.Println(map[bool]string{true: "another", false: "no"}[another], "Authorization arrived; the signature is enough.",
		`To get it: Apache "CGIPassAuth On", nginx "proxy_set_header Authorization $http_authorization"`,
		"(fastcgi_param HTTP_AUTHORIZATION), API gateways: forward the header Authorization.")
}

func handle(result, id, kind string) {
	switch result {
	case "applied":
		fmt.Println("received", id, kind)
	case "older":
		fmt.Println("older", id, kind)
	}
}

func keyOf(secret string) []byte {
	if encoded, found := strings.CutPrefix(secret, "whsec_"); found {
		decoded, _ := base64.StdEncoding.DecodeString(encoded)
		return decoded
	}
	return []byte(secret)
}

func main() {
	if len(secrets) == 0 {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	for _, secret := range secrets {
		if len(keyOf(secret)) == 0 {
			log.Fatal("a secret of WEBHOOK_SECRET is not base64 after whsec_")
		}
	}
	fmt.Println("listening on port", os.Getenv("PORT"))
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
