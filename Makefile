.DEFAULT_GOAL := help
.PHONY: help up front update package rollback releases down logs doctor check-app check test test-arm64 bench loadtest settings render render-proxy verify-cluster test-cluster release verify-release

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

up: ## Bring the stack to what .env and the sources say: build, try and start what has changed, web without failing a request
	@sh deploy/host/up.sh
	@BASE_URL= sh deploy/checks/host/doctor.sh --brief || true

front: ## Start the front that gives several apps of this host one port 443 (deploy/front/README.md)
	@sh deploy/front/up.sh

update: ## Build on the newest base images, and deploy
	@sh -euc '. deploy/lib.sh; deploy/bare-machine/update.sh $$(setting WEB_IMAGE)'
	@$(MAKE) --no-print-directory up

package: ## Build the images and the package for an app of your own, and start nothing (docs/your-app.md)
	@sh deploy/host/package.sh

rollback: ## Put the release of web before this one back, without a build or a failed request: RELEASE=<tag> chooses another
	@sh deploy/host/rollback.sh

releases: ## List the releases of web that can be put back, and which one runs
	@sh deploy/host/list-releases.sh

down: ## Stop this project's containers; certificate, stored files and queued envelopes stay
	@docker compose --profile '*' down

logs: ## Follow the logs
	@docker compose logs --follow --tail 100

doctor: ## Say what is wrong and what to do, a line for each check: BASE_URL=https://app.example.com checks from outside
	@sh deploy/checks/host/doctor.sh $(if $(JSON),--json)

check-app: ## Check an image of your own app against the contract of docs/your-app.md: WEB_IMAGE=registry.example/shop:1.4
	@sh deploy/checks/host/check-app.sh $(if $(JSON),--json)

check: ## Run everything that needs no container of the stack: types, lint, unit tests, documents, lists, nginx -t, helm
	@sh deploy/test/check.sh

test: ## Run all checks: types, lint, unit tests, tests of the images, a real browser through the real stack
	@sh deploy/test/run.sh

test-arm64: ## Run the core of the proxy's contract, and a browser against the stack, with images for arm64 (under qemu elsewhere)
	@sh deploy/test/arm64.sh

bench: ## Compare the proxy with tunnelRoute, a bare proxy_pass and Caddy; measure faults and attacks
	@sh loadtest/bench/run.sh

loadtest: ## Run k6 against a deployment: PROFILE=average BASE_URL=https://app.example.com ARGS='--tag team=shop'
	@sh loadtest/run.sh $(ARGS)

settings: ## Write docs/settings.md and other lists of settings from deploy/settings/settings.json
	@node deploy/settings/generate.mjs

render: ## Write all objects for Kubernetes into one file: VALUES=values/production.yaml
	@sh deploy/kubernetes/render.sh "$(VALUES)"

render-proxy: ## Print Nginx's whole configuration for the settings in .env
	@docker compose build --quiet proxy && docker compose run --rm --no-deps --no-TTY proxy render

verify-cluster: ## Check a deployment in a cluster with kubectl, one line per check: NAMESPACE=culvert
	@NAMESPACE="$(NAMESPACE)" sh deploy/checks/cluster/verify.sh $(if $(JSON),--json)

test-cluster: ## Test the chart in a cluster, in a namespace of its own, with releases and faults under load: CONTEXT=kind-kind
	@CONTEXT="$(CONTEXT)" node deploy/kubernetes/test/real-cluster.ts

release: ## Make a release from a clean tag, into dist/; PUSH=yes then pushes it: REGISTRY=registry.example.com/culvert
	@sh deploy/release/release.sh

verify-release: ## Check a downloaded release before it is used: FOLDER=dist/1.0.0 IDENTITY=https://github.com/culvert/culvert
	@sh deploy/release/verify.sh "$(FOLDER)"
