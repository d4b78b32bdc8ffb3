"use strict";
// Tokens are optional where anonymous requests read public benchmarks: a padlock there says the opposite. The token is
// sent all the same.
const isOptional = (security) => security && security.some((one) => one.isEmpty());
const LocksWhereNeeded = (system) => ({
  wrapComponents: {
    OperationSummary: (Original) => (props) => {
      const security = props.operationProps.get("security");
      const operationProps = isOptional(security)
        ? props.operationProps.set("security", security.clear())
        : props.operationProps;
      return system.React.createElement(Original, { ...props, operationProps });
    },
  },
});
SwaggerUIBundle({
  url: "{{ schema_url|escapejs }}",
  dom_id: "#swagger-ui",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [LocksWhereNeeded],
  layout: "BaseLayout",
  deepLinking: true,
});
